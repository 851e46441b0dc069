#!/usr/bin/env node
import { runCommandLine } from './program';

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
// What reads the output may end first, as `head` does.
process.stdout.on('error', () => process.exit(0));

void runCommandLine(process.argv.slice(2), {
  environment: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: interrupted.signal,
}).then((code) => {
  process.exitCode = code;
});
