-- A contest's database as version 2 wrote it. Version 2 kept no tokens; those of its sessions were:
-- session of an organiser: version-1-session-of-ada
-- session of a member of Blue: version-1-session-of-ann
-- session of a member of Red: version-1-session-of-bea
-- token of `referee submit`, of a member of Blue: version-1-program-of-ann
BEGIN TRANSACTION;
CREATE TABLE account (                           -- of members, at an OpenID Connect provider
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,                       -- of the person there; it never changes
    member INTEGER NOT NULL UNIQUE REFERENCES member,
    created_at REAL NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
INSERT INTO "account" VALUES('https://id.example.org','ann-17',1,1700000000.0);
CREATE TABLE announcement (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
INSERT INTO "announcement" VALUES(1,1700000000.0,'Lunch','at noon');
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    actor TEXT NOT NULL,                         -- 'organiser Ada', 'the referee'
    address TEXT NOT NULL DEFAULT '',            -- from which it came
    action TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO "audit" VALUES(1,1700000000.0,'the referee','','new invitation link','organiser','');
INSERT INTO "audit" VALUES(2,1700000000.0,'organiser Ada','192.0.2.7','invite','Blue','blue@example.org');
INSERT INTO "audit" VALUES(3,1700000000.0,'organiser Ada','','invite','Red','');
INSERT INTO "audit" VALUES(4,1700000000.0,'member Ann','','new join link','Blue','');
INSERT INTO "audit" VALUES(5,1700000000.0,'organiser Ada','','invite','Third','');
INSERT INTO "audit" VALUES(6,1700000000.0,'organiser Ada','','switch','practice','staff from now');
INSERT INTO "audit" VALUES(7,1700000000.0,'organiser Ada','','withdrawn','Third','no time');
CREATE TABLE current_submission (                -- the version that plays
    team INTEGER PRIMARY KEY REFERENCES team,
    submission INTEGER NOT NULL REFERENCES submission
) STRICT;
INSERT INTO "current_submission" VALUES(1,1);
CREATE TABLE invitation (
    hash BLOB PRIMARY KEY,
    team INTEGER REFERENCES team,                -- NULL: for the organiser
    kind TEXT NOT NULL CHECK (kind IN ('invitation', 'join')),  -- opened once; or as often as members join
    created_at REAL NOT NULL,
    opened_at REAL,                              -- of an invitation
    ended_at REAL                                -- when another one replaced it
) STRICT;
INSERT INTO "invitation" VALUES(X'827A16C8B97D100AE775EE5CEC87F3F99561EC4FCC9A6241B759749BC6C85E92',NULL,'invitation',1700000000.0,1700000000.0,NULL);
INSERT INTO "invitation" VALUES(X'87CBC0C915407E8A74BE3745D53FAB875F8BC98439BEC0BA6A21D65264744694',1,'invitation',1700000000.0,1700000000.0,NULL);
INSERT INTO "invitation" VALUES(X'14007ED9BC4D896764EC0123BD3F612D558518A643AF1E6820FCA0479C3F2864',2,'invitation',1700000000.0,1700000000.0,NULL);
INSERT INTO "invitation" VALUES(X'FE0212C8F2A0D2CA07FBF48113A86ED26AAAD1FC579EDC142E89D67FE3F32775',1,'join',1700000000.0,NULL,NULL);
INSERT INTO "invitation" VALUES(X'71F1539DC6E3FD890D75D247E462A8A27F2073832D1CCEE0E221E5509B054708',3,'invitation',1700000000.0,NULL,NULL);
CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    team INTEGER REFERENCES team,                -- NULL: an organiser
    name TEXT NOT NULL,
    joined_at REAL NOT NULL
) STRICT;
INSERT INTO "member" VALUES(1,1,'Ann',1700000000.0);
INSERT INTO "member" VALUES(2,2,'Bea',1700000000.0);
INSERT INTO "member" VALUES(3,NULL,'Ada',1700000000.0);
CREATE TABLE practice (
    id INTEGER PRIMARY KEY,
    team INTEGER NOT NULL REFERENCES team,
    member INTEGER NOT NULL REFERENCES member,
    submission INTEGER NOT NULL REFERENCES submission,
    rival TEXT NOT NULL,                         -- the name of a bot of the contest, or a built-in one such as @random
    seat INTEGER NOT NULL DEFAULT 0,             -- of the team's bot
    seed TEXT NOT NULL DEFAULT '',               -- a number; '' = drawn when it is played
    options TEXT NOT NULL DEFAULT '{}',          -- of the rules, with the map, as JSON
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'playing', 'played', 'failed')),
    asked_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    game TEXT NOT NULL DEFAULT '',               -- where the play process keeps the game
    result TEXT NOT NULL DEFAULT '',             -- one line
    reason TEXT NOT NULL DEFAULT ''              -- why it could not be played
) STRICT;
INSERT INTO "practice" VALUES(1,1,1,1,'@random',0,'7','{"rounds":3}','played',1700000000.0,1700000000.0,1700000000.0,'practice/1.jsonl.gz','won','');
INSERT INTO "practice" VALUES(2,1,1,1,'Red',1,'','{}','waiting',1700000000.0,NULL,NULL,'','','');
CREATE TABLE session (
    hash BLOB PRIMARY KEY,
    member INTEGER NOT NULL REFERENCES member,
    kind TEXT NOT NULL CHECK (kind IN ('browser', 'program')),  -- a cookie; or the token of `referee submit`
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    ended_at REAL
) STRICT;
INSERT INTO "session" VALUES(X'9ABF346F144144830D1755D08D445484CE4421BBA18BD778B961E3D43D1DD552',1,'browser',1700000000.0,99999999999.0,NULL);
INSERT INTO "session" VALUES(X'EBE7E6FCCF784B6E6979F56FA7AC1FD1C9FB1B4E9A025ACE0A4338CBFD35881D',2,'browser',1700000000.0,99999999999.0,NULL);
INSERT INTO "session" VALUES(X'B1395AD7728F2E65BE097B950420A378EBD42FB392A9B23F96D7E913013DD58F',3,'browser',1700000000.0,99999999999.0,NULL);
INSERT INTO "session" VALUES(X'6FC8EB07639C5B795658D64AE10EEC6B3E6DD1A6CC17343FDA6BBCA524E2AB0A',1,'program',1700000000.0,99999999999.0,NULL);
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "setting" VALUES('check_options','[]');
CREATE TABLE submission (
    id INTEGER PRIMARY KEY,
    team INTEGER NOT NULL REFERENCES team,
    version INTEGER NOT NULL,                    -- counts from 1 in each team
    member INTEGER NOT NULL REFERENCES member,
    handed_in_at REAL NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    file TEXT NOT NULL,                          -- its name as the team knows it; of a repository its last part
    path TEXT NOT NULL,                          -- below the contest's folder, or the address of a repository
    git_commit TEXT NOT NULL DEFAULT '',         -- '' = the newest
    size INTEGER NOT NULL DEFAULT 0,             -- in bytes
    status TEXT NOT NULL DEFAULT 'waiting'
        CHECK (status IN ('waiting', 'checking', 'accepted', 'refused')),
    tries INTEGER NOT NULL DEFAULT 0,            -- checks that began; the machine may end one
    started_at REAL,
    decided_at REAL,
    reason TEXT NOT NULL DEFAULT '',             -- why it was refused, in one line
    log TEXT NOT NULL DEFAULT '',                -- the build log, below the contest's folder
    bot TEXT NOT NULL DEFAULT '',                -- its name in the tournament
    hash TEXT NOT NULL DEFAULT '',               -- SHA-256 of its content, hexadecimal, as in tournament.toml
    entry TEXT NOT NULL DEFAULT '',              -- of an accepted one, the tournament's entry as JSON
    entered_at REAL,                             -- when it became the one that plays
    set_aside_at REAL,                           -- it failed too many games in a row and plays no rated games
    set_aside_why TEXT NOT NULL DEFAULT '',
    UNIQUE (team, version)
) STRICT;
INSERT INTO "submission" VALUES(1,1,1,1,1700000000.0,'the first','bot.zip','uploads/1/none/bot.zip','',0,'accepted',1,1700000000.0,1700000000.0,'','','Blue','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd','{"name":"Blue","ident":"cdcdcdcdcd","hash":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","bot":"@random"}',1700000000.0,NULL,'');
INSERT INTO "submission" VALUES(2,1,2,1,1700000000.0,'','bot.zip','uploads/1/other/bot.zip','',0,'refused',1,1700000000.0,1700000000.0,'it does not build','','','','',NULL,NULL,'');
INSERT INTO "submission" VALUES(3,1,3,1,1700000000.0,'','bots','https://github.com/blue/bots','main',0,'waiting',0,NULL,NULL,'','','','','',NULL,NULL,'');
CREATE TABLE switch (                            -- the latest row of the past holds
    name TEXT NOT NULL CHECK (name IN ('uploads', 'rated', 'practice', 'table')),
    at REAL NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name, at)
) STRICT;
INSERT INTO "switch" VALUES('practice',1700000000.0,'staff');
CREATE TABLE team (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,                   -- of its bot in the tournament, too
    folded TEXT NOT NULL UNIQUE,                 -- equal for names that people read as the same
    email TEXT NOT NULL DEFAULT '',              -- for the organiser's mails
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'withdrawn', 'disqualified')),
    reason TEXT NOT NULL DEFAULT '',             -- why it plays no more, as the public reads it
    created_at REAL NOT NULL
) STRICT;
INSERT INTO "team" VALUES(1,'Blue','blue','blue@example.org','active','',1700000000.0);
INSERT INTO "team" VALUES(2,'Red','red','','active','',1700000000.0);
INSERT INTO "team" VALUES(3,'Third','third','','withdrawn','no time',1700000000.0);
CREATE INDEX member_team ON member (team);
CREATE INDEX invitation_team ON invitation (team, kind);
CREATE INDEX session_member ON session (member);
CREATE INDEX submission_status ON submission (status, id);
CREATE INDEX submission_hash ON submission (hash);
CREATE INDEX practice_status ON practice (status, id);
CREATE INDEX practice_team ON practice (team, id);
COMMIT;
PRAGMA user_version = 2;
