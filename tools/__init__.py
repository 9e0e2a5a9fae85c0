"""What is made from the types of the games: schemas, pages, bindings of the kits. And what developers of ours run."""
