//! The bot's own tests: `cargo test --release`.

use std::fs::File;
use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn it_greets_and_answers_its_first_call_and_ends() {
    let frames = File::open("tests/first_call.jsonl").unwrap();
    let bot = Command::new(env!("CARGO_BIN_EXE_bot")).stdin(frames).stderr(Stdio::inherit()).output().unwrap();
    let text = String::from_utf8(bot.stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{text}");
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        assert!(answer.get("result").is_some(), "{answer}");
    }
    assert!(bot.status.success());
}
