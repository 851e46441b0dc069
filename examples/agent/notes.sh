#!/bin/sh
# An agent in twenty lines of shell: it writes the task's title into NOTES.md. Any program can do this.
set -eu

read -r task                       # the first line on standard input is the task
echo '{"type":"progress","message":"Reading the task","percent":10}'

# Without a JSON parser at hand: the first "title" of the document is the objective's.
title=$(printf '%s' "$task" | sed -n 's/.*"objective":{[^}]*"title":"\([^"]*\)".*/\1/p')
printf '* %s (%s)\n' "$title" "$BOARD_TASK_ID" >> NOTES.md

echo '{"type":"file","path":"NOTES.md","status":"modified"}'
echo "any other line is kept as output"
echo '{"type":"result","status":"success","summary":"Wrote a note about the task"}'
