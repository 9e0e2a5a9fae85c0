"""The database's tables, as numbered steps. A step that was released never changes; a change is a further step.

Times are seconds since 1970. A secret (an invitation, a session, a token) is here as its SHA-256 only.
"""

FIRST = """
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE team (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,                   -- of its bot in the tournament, too
    folded TEXT NOT NULL UNIQUE,                 -- equal for names that people read as the same
    email TEXT NOT NULL DEFAULT '',              -- for the organiser's mails
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'withdrawn', 'disqualified')),
    reason TEXT NOT NULL DEFAULT '',             -- why it plays no more, as the public reads it
    created_at REAL NOT NULL
) STRICT;

CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    team INTEGER REFERENCES team,                -- NULL: an organiser
    name TEXT NOT NULL,
    joined_at REAL NOT NULL
) STRICT;
CREATE INDEX member_team ON member (team);

CREATE TABLE invitation (
    hash BLOB PRIMARY KEY,
    team INTEGER REFERENCES team,                -- NULL: for the organiser
    kind TEXT NOT NULL CHECK (kind IN ('invitation', 'join')),  -- opened once; or as often as members join
    created_at REAL NOT NULL,
    opened_at REAL,                              -- of an invitation
    ended_at REAL                                -- when another one replaced it
) STRICT;
CREATE INDEX invitation_team ON invitation (team, kind);

CREATE TABLE session (
    hash BLOB PRIMARY KEY,
    member INTEGER NOT NULL REFERENCES member,
    kind TEXT NOT NULL CHECK (kind IN ('browser', 'program')),  -- a cookie; or the token of `referee submit`
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    ended_at REAL
) STRICT;
CREATE INDEX session_member ON session (member);

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
CREATE INDEX submission_status ON submission (status, id);
CREATE INDEX submission_hash ON submission (hash);

CREATE TABLE current_submission (                -- the version that plays
    team INTEGER PRIMARY KEY REFERENCES team,
    submission INTEGER NOT NULL REFERENCES submission
) STRICT;

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
CREATE INDEX practice_status ON practice (status, id);
CREATE INDEX practice_team ON practice (team, id);

CREATE TABLE announcement (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE switch (                            -- the latest row of the past holds
    name TEXT NOT NULL CHECK (name IN ('uploads', 'rated', 'practice', 'table')),
    at REAL NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name, at)
) STRICT;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    actor TEXT NOT NULL,                         -- 'organiser Ada', 'the referee'
    address TEXT NOT NULL DEFAULT '',            -- from which it came
    action TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
) STRICT;
"""

ACCOUNTS = """
CREATE TABLE account (                           -- of members, at an OpenID Connect provider
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,                       -- of the person there; it never changes
    member INTEGER NOT NULL UNIQUE REFERENCES member,
    created_at REAL NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
"""

EXTENSIONS = """
CREATE TABLE extension (                         -- a team that may hand in after uploads have closed
    team INTEGER PRIMARY KEY REFERENCES team,
    until REAL NOT NULL
) STRICT;

CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,                    -- of the event, which makes one message for a team
    kind TEXT NOT NULL CHECK (kind IN ('invitation', 'set_aside', 'final')),
    team INTEGER NOT NULL REFERENCES team,
    facts TEXT NOT NULL,                         -- what its template needs, as JSON; no link
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'unsure')),
    tries INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL,                            -- of the last change
    problem TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX mail_state ON mail (state, id);

ALTER TABLE team ADD COLUMN alias TEXT NOT NULL DEFAULT '';  -- the name of its bot, where the public sees pseudonyms
"""

MIGRATIONS = (FIRST, ACCOUNTS, EXTENSIONS)
"""Step N brings a database to `PRAGMA user_version` N."""
