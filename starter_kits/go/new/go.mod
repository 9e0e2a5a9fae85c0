module bot

go 1.23
