//! Checks of the library that need no referee.

use std::collections::HashSet;
use std::fs::{self, File};

use crate::reantics::{AntType, ConstructionType, Coord, GameState, Move, MoveType, Phase};
use crate::tictactoe::{Action, ActionType, ArenaEvent, Cell, Symbol, Winner, CELLS};
use crate::wire::{Encoding, MessagePackCutter, Raw, Reader};
use crate::{json, sent, Clock, Match, Params, Value};

const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::MessagePack];

/// One value of every MessagePack type that JSON can say, as one array.
fn every_type() -> Value {
    json!([
        null, true, 1, -1, 200, -100, 60_000, -30_000, 4_000_000_000_u64, -2_000_000_000, i64::MAX, i64::MIN, u64::MAX,
        0.1, 1.5, 1e300, "", "a".repeat(31), "b".repeat(32), "c".repeat(256), "d".repeat(65_536), [], vec![1; 15],
        vec![1; 16], vec![1; 65_536], {}, {"key": {"nested": [1, [2, [3]]]}}, "(╯°□°)╯︵ ┻━┻"
    ])
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8], encoding: Encoding) -> T {
    Raw { bytes, encoding }.read().unwrap()
}

/// The value as a bot would read it, by way of either encoding.
fn received<T: serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(value: &Value) -> T {
    let [one, other] = BOTH.map(|encoding| read::<T>(&encoding.encode(value).unwrap(), encoding));
    assert_eq!(one, other);
    one
}

#[test]
fn a_messagepack_frame_is_cut_where_it_ends() {
    for value in every_type().as_array().unwrap() {
        let bytes = rmp_serde::to_vec_named(&json!({"before": 1, "value": value, "after": 2})).unwrap();
        let joined = [&bytes[..], &bytes[..]].concat();
        let whole = Some(bytes.len());
        assert_eq!(MessagePackCutter::default().cut(&bytes), whole);
        assert_eq!(MessagePackCutter::default().cut(&joined), whole, "with the next frame behind it");
        let mut cutter = MessagePackCutter::default();
        assert!((0..bytes.len()).all(|size| cutter.cut(&bytes[..size]).is_none()), "byte by byte");
        assert_eq!(cutter.cut(&bytes), whole, "the last byte");
        assert_eq!(cutter.cut(&bytes), whole, "a second frame with the same cutter");
    }
}

#[test]
fn what_json_cannot_say_is_cut_too() {
    let mut foreign = vec![0x94, 0xd4, 1, 2, 0xc7, 2, 1, 0, 0, 0xc4, 3, 1, 2, 3, 0xd8, 1];
    foreign.extend([0; 16]); // the last one's bytes
    assert_eq!(MessagePackCutter::default().cut(&foreign), Some(foreign.len()));
    assert_eq!(MessagePackCutter::default().cut(&foreign[1..]), Some(3), "a fixext alone");
    assert_eq!(MessagePackCutter::default().cut(&foreign[..foreign.len() - 1]), None);
    assert_eq!(MessagePackCutter::default().cut(&[0xdf, 0xff, 0xff, 0xff, 0xff]), None, "an endless map");
}

#[test]
fn frames_are_read_in_either_encoding_and_blank_lines_are_none() {
    let file = std::env::temp_dir().join(format!("referee-kit-{}", std::process::id()));
    let large = json!({"id": 2, "value": "x".repeat(200_000)});
    for encoding in BOTH {
        let blank: &[u8] = if encoding == Encoding::Json { b"\r\n\n" } else { b"" };
        let frames = [blank, &encoding.encode(&json!({"id": 1})).unwrap(), &encoding.encode(&large).unwrap()].concat();
        fs::write(&file, &frames[..]).unwrap();
        let mut reader = Reader::new(File::open(&file).unwrap());
        assert_eq!(reader.next(encoding).unwrap().read::<Value>().unwrap(), json!({"id": 1}));
        assert_eq!(reader.next(encoding).unwrap().read::<Value>().unwrap(), large);
        assert!(reader.next(encoding).is_none());
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn both_encodings_say_the_same() {
    assert_eq!(received::<Value>(&every_type()), every_type());
    assert_eq!(sent(vec![f64::NAN, 0.5]).unwrap(), json!([null, 0.5]));
}

#[test]
fn of_duplicate_members_the_last_counts() {
    let json = br#"{"a":1,"b":{"c":[1,2]},"a":2}"#;
    let msgpack = b"\x83\xa1a\x01\xa1b\x81\xa1c\x92\x01\x02\xa1a\x02";
    for (bytes, encoding) in [(&json[..], Encoding::Json), (&msgpack[..], Encoding::MessagePack)] {
        let params = Params::new(Raw { bytes, encoding }).unwrap();
        assert_eq!(params.get::<i64>("a").unwrap(), 2);
        assert_eq!(params.get::<Value>("b").unwrap(), json!({"c": [1, 2]}));
        assert_eq!(params.get::<i64>("z").unwrap_err().to_string(), "there is no parameter z");
        assert!(params.get::<i64>("b").unwrap_err().to_string().starts_with("parameter b: "));
        assert_eq!((params.optional::<i64>("a"), params.optional::<i64>("b")), (Some(2), None));
    }
}

#[test]
fn the_clock_is_shared_by_every_clone_of_a_match() {
    let info: Match = read(br#"{"game":"g","seat":1,"seed":18446744073709551615,"newer":{}}"#, Encoding::Json);
    let kept = info.clone();
    assert_eq!((kept.seat, kept.seed, kept.limits.call_ms, kept.clock()), (1, u64::MAX, None, Clock::default()));
    let clock: Clock = received(&json!({"call_ms": 1000, "remaining_ms": null, "answers_left": 40}));
    info.set_clock(clock);
    assert_eq!(kept.clock(), Clock { call_ms: Some(1000), remaining_ms: None, last_ms: None, answers_left: Some(40) });
}

#[test]
fn coordinates_are_values() {
    assert_eq!(json!(Coord::new(3, 9)), json!([3, 9]));
    assert_eq!(received::<Coord>(&json!([3, 9])), Coord { x: 3, y: 9 });
    assert!(serde_json::from_value::<Coord>(json!([3, 9, 1])).is_err());
    assert_eq!(HashSet::from([Coord::new(0, 1), Coord::new(1, 0), (0, 1).into()]).len(), 2);
    assert!(Coord::new(0, 9) < Coord::new(1, 0));
}

/// The error of a parameter `at` that is this value, in each encoding.
fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(value: Value) -> [String; 2] {
    BOTH.map(|encoding| {
        let bytes = encoding.encode(&json!({"at": value})).unwrap();
        let params = Params::new(Raw { bytes: &bytes, encoding }).unwrap();
        params.get::<T>("at").unwrap_err().to_string()
    })
}

#[test]
fn a_choice_is_what_the_wire_says_and_nothing_else() {
    for kind in AntType::ALL {
        assert_eq!(received::<AntType>(&json!(kind)), kind);
        assert_eq!((json!(kind), AntType::try_from(kind as i64).unwrap()), (json!(i64::from(kind)), kind));
    }
    for cell in Cell::ALL {
        assert_eq!(received::<Cell>(&json!(cell)), cell);
        assert_eq!(json!(cell), json!(format!("{cell:?}")));
        assert_eq!((Cell::of(&json!(cell)), Cell::of(&Some(json!(cell)))), (Some(cell), Some(cell)));
    }
    assert_eq!((json!(ConstructionType::Anthill), json!(Winner::Draw), CELLS), (json!(-4), json!("draw"), Cell::ALL));
    for other in [json!("nw"), json!(""), json!(0), json!(null), json!(["NW"]), json!({"NW": null})] {
        assert_eq!(Cell::of(&other), None);
        assert!(refused::<Cell>(other).iter().all(|error| error.starts_with("parameter at: ")));
    }
    assert_eq!(Cell::of(&None), None);
}

#[test]
fn a_choice_that_is_none_is_refused_in_a_line_that_names_the_others() {
    for error in refused::<AntType>(json!(7)) {
        assert!(error.starts_with("parameter at: 7 is no AntType, which is one of [0, 1, 2, 3, 4]"), "{error}");
        assert!(!error.contains('\n'));
    }
    for error in refused::<Symbol>(json!("x")) {
        assert!(error.starts_with("parameter at: unknown variant `x`, expected `O` or `X`"), "{error}");
        assert!(!error.contains('\n'));
    }
    assert!(refused::<AntType>(json!(1.0)).iter().all(|error| error.contains("invalid type")));
}

#[test]
fn the_state_of_the_document_is_read() {
    let mut state = json!({"phase": 3, "whoseTurn": 1, "newer": {}, "inventories": [
        {"player": 0, "foodCount": 1,
         "ants": [{"id": 2, "coords": [4, 8], "type": 1, "player": 0, "health": 4, "carrying": false, "hasMoved": true}],
         "constrs": [{"coords": [4, 8], "type": -3, "player": 0, "captureHealth": 2, "movementCost": 1}]},
        {"player": 1, "foodCount": 1, "ants": [], "constrs": []},
        {"player": 2, "foodCount": 0, "ants": [], "constrs": [{"coords": [9, 6], "type": -2, "movementCost": 2}]}],
        "board": [[null, {"ant": 2, "constr": -3}, {"constr": -1}]]});
    let read: GameState = received(&state);
    assert_eq!((read.inventories[0].ants[0].coords, read.inventories[0].ants[0].has_moved), (Coord::new(4, 8), true));
    assert_eq!((read.phase, read.inventories[0].ants[0].r#type), (Phase::PlayPhase, AntType::Worker));
    assert_eq!(read.inventories[0].constrs[0].capture_health, Some(2));
    assert_eq!(read.inventories[2].constrs[0].player, None, "grass has no owner");
    let board = read.board.unwrap();
    assert!(board[0][0].is_none());
    assert_eq!(board[0][1].as_ref().unwrap().ant, Some(2));
    assert_eq!(board[0][2].as_ref().unwrap().ant, None);
    assert_eq!(board[0][2].as_ref().unwrap().constr, Some(ConstructionType::Food));
    state.as_object_mut().unwrap().remove("board");
    assert_eq!(received::<GameState>(&state).board, None);
    for phase in [json!("three"), json!(3.5), json!(4), json!(null)] {
        state["phase"] = phase;
        assert!(serde_json::from_value::<GameState>(state.clone()).is_err());
    }
}

#[test]
fn moves_are_written_as_the_document_shows_them() {
    let path = vec![Coord::new(4, 1), Coord::new(4, 2), Coord::new(5, 2)];
    let step = Move { coord_list: Some(path), ..Move::new(MoveType::MoveAnt) };
    let hill = Some(vec![Coord::new(0, 3)]);
    let build = Move { coord_list: hill, build_type: Some(AntType::Soldier), ..Move::new(MoveType::Build) };
    assert_eq!(sent(Move::new(MoveType::End)).unwrap(), json!({"moveType": 2}));
    assert_eq!(sent(step).unwrap(), json!({"moveType": 0, "coordList": [[4, 1], [4, 2], [5, 2]]}));
    assert_eq!(sent(build).unwrap(), json!({"moveType": 1, "coordList": [[0, 3]], "buildType": 3}));
}

#[test]
fn an_event_may_show_anything() {
    for shown in [json!(null), json!(7), json!(1e300), json!("SE"), json!([]), json!({"a": [null]})] {
        let event: ArenaEvent = received(&json!({"player": "X", "action": shown, "position": shown}));
        assert_eq!((event.action, event.position), (Some(shown.clone()), Some(shown)));
    }
    for (winner, side) in [(json!(0), json!({})), (json!("x"), json!({"X": null})), (json!({"O": null}), json!(["X"]))]
    {
        let nonsense: ArenaEvent = received(&json!({"player": "X", "winner": winner, "youAre": side, "id": [1]}));
        assert_eq!((nonsense.winner, nonsense.you_are, nonsense.id, nonsense.action), (None, None, None, None));
        assert_eq!(nonsense.player, Some(Symbol::X));
    }
    assert_eq!(sent(Action::new(ActionType::Flip)).unwrap(), json!({"action": "(╯°□°)╯︵ ┻━┻"}));
    let cell = Action { position: Some(Cell::SE), ..Action::new(ActionType::PutSymbol) };
    assert_eq!(sent(cell).unwrap(), json!({"action": "putSymbol", "position": "SE"}));
}
