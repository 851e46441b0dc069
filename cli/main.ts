#!/usr/bin/env node
import { exitCodes } from './failures';
import { runCommandLine } from './program';

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // What reads the output may end first, as `head` does.
  if (code === 'EPIPE') {
    process.exit(exitCodes.done);
  }
  process.stderr.write(`runboard: The output could not be written: ${message}\n`);
  process.exit(exitCodes.refused);
});

void runCommandLine(process.argv.slice(2), {
  environment: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: interrupted.signal,
}).then((code) => {
  process.exitCode = code;
});
