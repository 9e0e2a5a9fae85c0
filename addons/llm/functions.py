"""The functions of the program that prepares prompts. No game has functions with these names."""

PREPARE, QUESTION, READ, RETHINK = "llm.prepare", "llm.question", "llm.read", "llm.rethink"
