//! Parties of a cluster that are killed at random moments, and other mishaps: every run ends in the
//! right result or in one clear error, in a bounded time, and leaves nothing half-written.
//!
//! One round of each by default; tables of many with
//! `CONSILIENCE_KILLS=20 cargo test --release --test kills -- --nocapture --test-threads=1`.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Party, contents, json, names, program};

/// No run may take longer, whatever happens to it.
const LIMIT: Duration = Duration::from_secs(180);
const VERB: &str = "consensus pool --method lwea --clusters 5 --quiet";

/// A folder with an ensemble and its right labels.
struct World {
    folder: tempfile::TempDir,
    right: Vec<(String, Vec<u8>)>,
    /// How long an undisturbed run takes.
    span: Duration,
    dice: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Right,
    Refused,
}

impl World {
    fn new(dice: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let rows = match rounds() {
            Some(_) if cfg!(debug_assertions) => 60_000,
            Some(_) => 400_000,
            None => 20_000,
        };
        let make = format!("make ensemble pool --files 12 --rows {rows} --columns 10");
        json(at, &format!("{make} --distinct 500 --seed 4"));
        json(at, "consensus pool --method lwea --clusters 5 -o right");
        let right = contents(&at.join("right"));
        let mut world = World { folder, right, span: Duration::ZERO, dice };
        let (_scheduler, address, _executors) = world.parties();
        let start = Instant::now();
        let client = world.client(&address, "labels");
        assert!(world.ended(client, "labels") == End::Right);
        world.span = start.elapsed();
        world
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    fn parties(&self) -> (Party, String, [Party; 2]) {
        let (scheduler, address) = Party::scheduler("127.0.0.1:0", "");
        let executors = [Party::executor(&address, ""), Party::executor(&address, "")];
        (scheduler, address, executors)
    }

    fn client(&self, scheduler: &str, output: &str) -> Child {
        // More patience where nobody counts seconds, for machines that are busy.
        let patience = if rounds().is_some() { "5 --tries 2" } else { "15 --tries 3" };
        let line = format!("{VERB} --patience {patience} -o {output} --scheduler {scheduler}");
        let mut client = program();
        client.args(line.split_whitespace()).current_dir(self.at());
        client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for a random moment of a run.
    fn wait(&mut self) {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (self.dice >> 33) as f64 / f64::from(1u32 << 31);
        std::thread::sleep(self.span.mul_f64(share));
    }

    /// Waits for the end of a run, looks at what it left, and removes that.
    fn ended(&self, mut client: Child, output: &str) -> End {
        let start = Instant::now();
        while client.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < LIMIT, "a run that does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let told = client.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&told.stderr);
        match told.status.code() {
            Some(0) => {
                assert!(contents(&self.at().join(output)) == self.right, "wrong labels");
                fs::remove_dir_all(self.at().join(output)).unwrap();
                End::Right
            }
            Some(2) => {
                assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
                assert!(!self.at().join(output).exists(), "{said}");
                End::Refused
            }
            other => panic!("{other:?}: {said}"),
        }
    }

    fn nothing_left(&self) {
        assert_eq!(names(self.at()), ["pool", "right"]);
    }
}

/// How often each mishap is played, where that is asked for.
fn rounds() -> Option<usize> {
    std::env::var("CONSILIENCE_KILLS").ok()?.parse().ok()
}

/// Plays a mishap so many times, and adds a line to the table.
fn play(
    table: &mut String,
    world: &mut World,
    what: &str,
    always_right: bool,
    mut once: impl FnMut(&mut World) -> End,
) {
    let rounds = rounds().unwrap_or(1);
    let (mut right, mut longest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let start = Instant::now();
        let end = once(world);
        longest = longest.max(start.elapsed());
        right += usize::from(end == End::Right);
        assert!(end == End::Right || !always_right, "{what}: refused in round {round}");
        world.nothing_left();
    }
    let (refused, seconds) = (rounds - right, longest.as_secs_f64());
    let _ = writeln!(table, "| {what} | {rounds} | {right} | {refused} | {seconds:.1} s |");
}

/// A world, with dice of its own, and the head of the table of what happened in it.
fn start(dice: u64) -> (World, String) {
    let world = World::new(dice);
    let seconds = world.span.as_secs_f64();
    let mut table = String::from("| mishap | runs | right | one clear error | longest |\n");
    table.push_str("|---|---|---|---|---|\n");
    let _ = writeln!(table, "| none | 1 | 1 | 0 | {seconds:.1} s |");
    (world, table)
}

#[test]
fn an_executor_is_lost() {
    let (mut world, mut table) = start(1);
    play(&mut table, &mut world, "one of two executors killed", true, |world| {
        let (_scheduler, address, mut executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        executors[0].kill();
        world.ended(client, "labels")
    });
    play(&mut table, &mut world, "one killed, another started", true, |world| {
        let (_scheduler, address, mut executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        executors[0].kill();
        let _other = Party::executor(&address, "");
        world.ended(client, "labels")
    });
    play(&mut table, &mut world, "one stopped (SIGSTOP), going on later", true, |world| {
        let (_scheduler, address, executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        executors[0].signal("STOP");
        let end = world.ended(client, "labels");
        executors[0].signal("CONT");
        std::thread::sleep(Duration::from_millis(500));
        end
    });
    println!("{table}");
}

#[test]
fn all_executors_are_lost() {
    let (mut world, mut table) = start(2);
    play(&mut table, &mut world, "both killed, others started", true, |world| {
        let (_scheduler, address, mut executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        executors.iter_mut().for_each(Party::kill);
        let _others = Party::executor(&address, "");
        world.ended(client, "labels")
    });
    play(&mut table, &mut world, "both killed", false, |world| {
        let (_scheduler, address, mut executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        executors.iter_mut().for_each(Party::kill);
        world.ended(client, "labels")
    });
    println!("{table}");
}

/// Removes a folder that executors may still be writing to, whose client is gone.
fn removed(folder: &Path) {
    let end = Instant::now() + Duration::from_secs(30);
    while let Err(error) = fs::remove_dir_all(folder) {
        assert!(Instant::now() < end, "{}: {error}", folder.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_scheduler_or_the_client_is_lost() {
    let (mut world, mut table) = start(3);
    play(&mut table, &mut world, "scheduler killed, started again", true, |world| {
        let (mut scheduler, address, _executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        scheduler.kill();
        let _again = Party::scheduler(&address, "");
        world.ended(client, "labels")
    });
    play(&mut table, &mut world, "scheduler killed", false, |world| {
        let (mut scheduler, address, _executors) = world.parties();
        let client = world.client(&address, "labels");
        world.wait();
        scheduler.kill();
        world.ended(client, "labels")
    });
    play(&mut table, &mut world, "client killed, run again", true, |world| {
        let (_scheduler, address, _executors) = world.parties();
        let mut client = world.client(&address, "labels");
        world.wait();
        client.kill().unwrap();
        client.wait().unwrap();
        // Complete or not there; what is hidden may go, by whoever finds it.
        let labels = world.at().join("labels");
        if labels.exists() {
            assert!(contents(&labels) == world.right);
            fs::remove_dir_all(labels).unwrap();
        }
        for name in names(world.at()).iter().filter(|name| name.starts_with('.')) {
            assert!(name.contains(".consilience-"), "{name}");
            removed(&world.at().join(name));
        }
        let client = world.client(&address, "labels");
        world.ended(client, "labels")
    });
    println!("{table}");
}

#[test]
fn files_and_disks() {
    let (mut world, mut table) = start(4);
    play(&mut table, &mut world, "two runs to one output", true, |world| {
        let (_scheduler, address, _executors) = world.parties();
        let clients = [world.client(&address, "labels"), world.client(&address, "labels")];
        let mut codes = Vec::new();
        for client in clients {
            codes.push(client.wait_with_output().unwrap().status.code());
        }
        assert!(contents(&world.at().join("labels")) == world.right, "{codes:?}");
        fs::remove_dir_all(world.at().join("labels")).unwrap();
        assert!(codes.contains(&Some(0)) && codes.iter().all(|c| matches!(c, Some(0 | 2))));
        End::Right
    });
    play(&mut table, &mut world, "input file removed", false, |world| {
        let (_scheduler, address, _executors) = world.parties();
        let file = world.at().join("pool/part-00007.parquet");
        let bytes = fs::read(&file).unwrap();
        let client = world.client(&address, "labels");
        world.wait();
        fs::remove_file(&file).unwrap();
        let end = world.ended(client, "labels");
        fs::write(&file, bytes).unwrap();
        end
    });
    play(&mut table, &mut world, "page damaged", false, |world| {
        let (_scheduler, address, _executors) = world.parties();
        let file = world.at().join("pool/part-00003.parquet");
        let bytes = fs::read(&file).unwrap();
        let mut damaged = bytes.clone();
        damaged[4..64].fill(0xff);
        fs::write(&file, damaged).unwrap();
        let client = world.client(&address, "labels");
        let end = world.ended(client, "labels");
        fs::write(&file, bytes).unwrap();
        end
    });
    let Some(small) = small_disk() else {
        println!("{table}SKIPPED: a full disk; no small file system could be mounted");
        return;
    };
    play(&mut table, &mut world, "disk full", false, |world| {
        let (_scheduler, address, _executors) = world.parties();
        let output = small.0.join("labels");
        let client = world.client(&address, output.to_str().unwrap());
        let end = world.ended(client, output.to_str().unwrap());
        assert_eq!(names(&small.0), Vec::<String>::new());
        assert!(end == End::Refused);
        end
    });
    println!("{table}");
}

/// A file system of a hundred kilobytes, where one may be mounted.
struct SmallDisk(PathBuf);

fn small_disk() -> Option<SmallDisk> {
    let place = tempfile::tempdir().unwrap().keep();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=100k", "tmpfs"])
        .arg(&place)
        .stderr(Stdio::null())
        .status();
    mount.is_ok_and(|status| status.success()).then_some(SmallDisk(place))
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}
