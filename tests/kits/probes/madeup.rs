use super::*;
use crate::wire::{Encoding, Raw};
use crate::{json, Bot, Match, Params, Value};

#[derive(Default)]
struct Mine {
    heard: Vec<Heard>,
}

impl MadeUpBot for Mine {
    fn new(_info: Match) -> Self {
        Mine::default()
    }

    fn look(&mut self, view: View, loud: bool, hint: Option<Tile>) -> Deed {
        let ship = match &view.grid[0][0] {
            Some(Thing::Ship(ship)) => ship.clone(),
            other => panic!("{other:?}"),
        };
        let rock = match &view.grid[0][2] {
            Some(Thing::Rock(rock)) => rock.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!((view.side, ship.mass, rock.at, rock.r#type), (Side::A, 2.0, Tile { row: 3, col: 4 }, Some(5)));
        assert_eq!(view.moods, Mood::ALL);
        assert!(view.grid[0][1].is_none() && view.grid[1].is_empty());
        assert_eq!((view.both, view.long.len()), ([Tile::new(0, 1), Tile::new(2, 3)], 40));
        assert_eq!(view.extra, json!({"a": []}));
        assert_eq!((view.deep, view.rock), (Some(vec![vec![vec![0.5, 1.0]]]), None));
        assert_eq!((view.alive, view.note, view.odd), (None, None, Some(Value::Null)));
        match (loud, hint) {
            (true, Some(to)) => Run { speed: Some(0.5), ..Run::new(vec![to]) }.into(),
            (true, None) => Say { mood: Some(Mood::Self_), ..Say::new("no hint") }.into(),
            (false, _) => Stay::default().into(),
        }
    }

    fn r#move(&mut self, r#type: i64, turn: Option<Turn>) -> Listed {
        assert_eq!(turn, Turn::try_from(r#type).ok());
        let arguments = if r#type == 0 { None } else { Some(vec![r#type, SIZE]) };
        Listed { arguments, ..Listed::new(r#type) }
    }

    fn heard(&mut self, heard: Heard) {
        self.heard.push(heard);
    }
}

fn in_both(value: &Value, check: impl Fn(&Params)) {
    for encoding in [Encoding::Json, Encoding::MessagePack] {
        let bytes = encoding.encode(value).unwrap();
        check(&Params::new(Raw { bytes: &bytes, encoding }).unwrap());
    }
}

fn answer(method: &str, params: Value, wanted: Value) {
    in_both(&params, |params| {
        assert_eq!(Typed(Mine::default()).answer(method, params).unwrap(), wanted);
    });
}

#[test]
fn constants_keep_their_names() {
    assert_eq!((SIZE, RATE, RATES, YES, NAME, STEPS, OLD), (-3, 0.5, [1.0, 0.5], true, "n", [1, 2], 9));
    assert_eq!((SIDES, Side::ALL, Turn::ALL), ([Side::B, Side::A], [Side::B, Side::A], [Turn::TurnLeft, Turn::Stay]));
    assert_eq!(Mood::ALL, [Mood::None, Mood::Self_, Mood::QuiteWell, Mood::N]);
}

#[test]
fn every_shape_is_read_and_every_choice_is_written() {
    let ship = json!({"kind": "ship", "mass": 2, "newer": 1});
    let rock = json!({"at": [3, 4], "type": 5, "kind": "rock"});
    let moods = json!(["", "self", "quite well", "N"]);
    let view = json!({"side": "a", "moods": moods, "grid": [[ship, null, rock], []], "both": [[0, 1], [2, 3]],
        "long": vec![0.5; 40], "extra": {"a": []}, "deep": [[[0.5, 1]]], "rock": {"at": [3]}, "alive": "yes",
        "odd": null});
    let run = json!({"do": "run", "to": [[8, 9]], "speed": 0.5});
    let said = json!({"do": "say", "text": "no hint", "mood": "self"});
    answer("look", json!({"view": view, "loud": true, "hint": [8, 9]}), run);
    answer("look", json!({"view": view, "loud": true, "hint": null}), said.clone());
    answer("look", json!({"view": view, "loud": true, "hint": "x"}), said);
    answer("look", json!({"view": view, "loud": false}), json!({"do": "stay"}));
}

#[test]
fn a_record_that_is_a_list_is_written_as_one() {
    answer("move", json!({"type": 3}), json!([3, [3, -3]]));
    answer("move", json!({"type": 3, "turn": 3}), json!([3, [3, -3]]));
    answer("move", json!({"type": 0, "turn": 0}), json!([0, null]));
    answer("move", json!({"type": -1, "turn": -1}), json!([-1, [-1, -3]]));
    answer("rest", json!({}), json!(null));
}

#[test]
fn a_choice_that_is_none_and_a_missing_member_are_errors() {
    for params in [json!({"view": {}, "loud": true}), json!({"loud": true})] {
        in_both(&params, |params| assert!(Typed(Mine::default()).answer("look", params).is_err()));
    }
    for thing in [json!({"kind": "tree"}), json!({"kind": "ship"}), json!({})] {
        assert!(serde_json::from_value::<Thing>(thing).is_err());
    }
}

#[test]
fn an_event_reads_nonsense_as_absent() {
    let shown = json!({"who": 5, "what": {"who": "a"}, "where": [1, 2, 3], "times": [1, "2"]});
    in_both(&shown, |params| {
        let mut bot = Typed(Mine::default());
        bot.notice("heard", params).unwrap();
        bot.notice("unheard of", params).unwrap();
        let what = Some(json!({"who": "a"}));
        assert_eq!(bot.0.heard, [Heard { who: None, what, r#where: None, times: None }]);
    });
}
