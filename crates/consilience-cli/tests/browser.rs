//! The page of `consilience report` in a browser: no error, nothing fetched, tables that sort, a
//! layout that holds on a telephone and on a wide screen, and paper. Where there is no Chromium the
//! test says so and passes; `CONSILIENCE_CHROMIUM` names one that stands elsewhere.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, prepared};
use serde_json::Value;

/// What runs beside the page: it sorts a table by one of its columns, twice, and says what it saw
/// inside an element of the page.
const PROBE: &str = r#"
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => errors.push(event.violatedDirective));
addEventListener("load", () => {
  const table = [...document.querySelectorAll("table.sortable")]
    .find((t) => t.caption.textContent.startsWith("Clusters."));
  const column = () => [...table.tBodies[0].rows].map((r) => Number(r.cells[3].dataset.value));
  const head = table.tHead.rows[0].cells[3];
  const button = head.querySelector("button");
  button.focus();
  const focused = document.activeElement === button;
  button.click();
  const up = column(), first = head.getAttribute("aria-sort");
  button.click();
  const down = column(), second = head.getAttribute("aria-sort");
  const frames = [360, 1400].map((width) => {
    const frame = document.createElement("iframe");
    frame.style.cssText = `width:${width}px;height:600px;border:0`;
    frame.srcdoc = document.documentElement.outerHTML;
    return frame;
  });
  // Frames of the page inside itself would start the probe again.
  if (window.parent !== window) return;
  document.body.append(...frames);
  const say = () => {
    const beyond = frames.map((f) => f.contentDocument.documentElement)
      .map((page) => page.scrollWidth - page.clientWidth);
    const fetched = performance.getEntriesByType("resource")
      .filter((r) => !r.name.startsWith("data:") && !r.name.startsWith("about:")).length;
    const seen = { errors, up, down, first, second, focused, beyond, fetched };
    const out = document.createElement("p");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  };
  let waiting = frames.length;
  frames.forEach((f) => f.addEventListener("load", () => { waiting -= 1; if (!waiting) say(); }));
});
"#;

/// The browser, where there is one.
fn browser() -> Option<String> {
    let named = std::env::var("CONSILIENCE_CHROMIUM").ok();
    let usual = ["chromium", "chromium-browser", "google-chrome", "chrome"].map(String::from);
    named.into_iter().chain(usual).find(|name| {
        let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// Standard output and standard error of the browser on a file of the folder; `None` where it does
/// not come to an end.
fn browse(browser: &str, folder: &Folder, file: &str, option: &str) -> Option<(String, String)> {
    let outputs = ["browser.out", "browser.err"].map(|name| folder.path(name));
    let open = |at: usize| Stdio::from(std::fs::File::create(&outputs[at]).unwrap());
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
        .args(["--window-size=1400,1000", "--virtual-time-budget=20000", option])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(format!("file://{}", folder.path(file).display()))
        .current_dir(folder.path("."))
        .stdin(Stdio::null())
        .stdout(open(0))
        .stderr(open(1))
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let [out, err] =
        outputs.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
    Some((out, err))
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else {
        println!("no Chromium here: the page was not opened in a browser");
        return;
    };
    let folder = prepared();
    folder.ok("report pool.csv -o page.html --features x.csv --truth truth.csv --clusters 4");
    let page = folder.text("page.html");
    let probed = page.replacen("<script>", &format!("<script>{PROBE}</script>\n<script>"), 1);
    folder.write("probed.html", probed);
    let Some((dom, log)) = browse(&browser, &folder, "probed.html", "--dump-dom") else {
        println!("{browser} did not come to an end: the page was not seen in a browser");
        return;
    };
    let (_, seen) = dom.split_once("<p id=\"seen\">").unwrap_or_else(|| panic!("{log}\n{dom}"));
    let seen = seen.split_once("</p>").unwrap().0.replace("&amp;", "&").replace("&quot;", "\"");
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen["errors"], Value::Array(Vec::new()), "{seen}");
    assert_eq!(seen["fetched"], 0, "{seen}");
    assert_eq!((&seen["first"], &seen["second"]), (&"ascending".into(), &"descending".into()));
    assert_eq!(seen["focused"], true);
    let column = |name: &str| -> Vec<f64> { serde_json::from_value(seen[name].clone()).unwrap() };
    let (up, down) = (column("up"), column("down"));
    assert!(up.len() == 4 && up[0] < up[3], "{seen}");
    assert!(up.is_sorted() && down.iter().rev().is_sorted(), "{seen}");
    assert_eq!(seen["beyond"], serde_json::json!([0, 0]), "wider than the screen: {seen}");
    assert!(!log.contains(":CONSOLE"), "{log}");
    browse(&browser, &folder, "page.html", "--print-to-pdf=page.pdf").unwrap();
    let pdf = folder.read("page.pdf");
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000, "{} bytes", pdf.len());
}
