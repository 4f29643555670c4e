//! Module `crowd`: workers compare photographs two at a time; one of them does not look. Pairs in
//! doubt are asked about, the answers are added, and the workers are rated.
//!
//! cargo run --example crowd_what_to_ask

use consilience::crowd::{Answers, CrowdClustering, CrowdResult, PairAnswer};
use consilience::{Partition, Result, Seed, Stream, scores};

const PHOTOGRAPHS: usize = 40;
const CAREFUL: usize = 4;

/// Four careful workers are right nine times out of ten; the fifth does not look.
struct Crowd {
    random: Stream,
}

impl Crowd {
    fn answer(&mut self, worker: usize, i: usize, j: usize) -> PairAnswer {
        let right = self.random.uniform() < if worker < CAREFUL { 0.9 } else { 0.5 };
        PairAnswer { worker, i, j, same: (i % 4 == j % 4) == right }
    }

    /// Answers on random pairs.
    fn about_anything(&mut self, count: usize) -> Result<Answers> {
        let mut rows = Vec::new();
        for t in 0..count {
            let i = self.random.below(PHOTOGRAPHS);
            let j = (i + 1 + self.random.below(PHOTOGRAPHS - 1)) % PHOTOGRAPHS;
            rows.push(self.answer(t % (CAREFUL + 1), i, j));
        }
        Answers::from_pairs(PHOTOGRAPHS, &rows)
    }

    /// Answers of two workers on each pair that the result asks for.
    fn about_doubts(
        &mut self,
        result: &CrowdResult,
        answers: &Answers,
        count: usize,
    ) -> Result<Answers> {
        let mut rows = Vec::new();
        for (t, q) in result.ask_pairs(answers, count / 2)?.into_iter().enumerate() {
            rows.push(self.answer(t % CAREFUL, q.i, q.j));
            rows.push(self.answer((t + 1) % CAREFUL, q.i, q.j));
        }
        Answers::from_pairs(PHOTOGRAPHS, &rows)
    }
}

fn main() -> Result<()> {
    let truth = Partition::from_fn(PHOTOGRAPHS, |i| Some(i as u64 % 4))?;
    let method = CrowdClustering::new(4).seed(Seed(1));
    let mut crowd = Crowd { random: Seed(2).stream() };
    let mut answers = crowd.about_anything(200)?;
    let mut result = method.fit(&answers, &())?.output;

    println!("answers   adjusted Rand index");
    for round in 0..5 {
        if round > 0 {
            let more = crowd.about_doubts(&result, &answers, 40)?;
            answers.extend(&more)?;
            result = method.fit(&answers, &())?.output;
        }
        let right = scores::adjusted_rand(&result.partition, &truth)?;
        println!("{:7}   {right:19.2}", answers.n_pair_answers());
    }
    assert!(scores::adjusted_rand(&result.partition, &truth)? > 0.9);

    let question = &result.ask_pairs(&answers, 1)?[0];
    println!(
        "next: are {} and {} alike? Probably {:.2}; an answer tells {:.2} bits",
        question.i, question.j, question.together, question.information
    );
    // 1 for a worker who is always right, 0 for one whose answers tell nothing.
    let informedness: Vec<f64> = result.workers.iter().map(|w| w.informedness()).collect();
    println!("informedness of each worker: {informedness:.2?}");
    assert!((0..CAREFUL).all(|w| informedness[CAREFUL] < informedness[w]));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
