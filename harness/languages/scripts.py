"""Ruby, Perl and shell: a bot of one file runs with the interpreter on PATH, and there is no kit."""

from referee.harness.languages.items import Item
from referee.harness.languages.language import Language, interpreted

RUBY = Language("Ruby", (".rb",), interpreted("ruby"), items=(Item("ruby", "ruby", "ruby", "ruby"),))
PERL = Language("Perl", (".pl",), interpreted("perl"), items=(Item("perl", "perl", "perl-interpreter", "perl"),))
SHELL = Language("shell", (".sh",), interpreted("sh"))
