// Writes everything that it does to the plain file named by LEDGER, a line of JSON each, before it does it: what others report
// of it later is compared with that. The first argument is how it behaves, the second and third are its steps and their pause.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const [mode = 'work', steps = '10', pauseMs = '100'] = process.argv.slice(2);
const { LEDGER: ledger, BOARD_TASK_ID: task, BOARD_ATTEMPT_ID: attempt } = process.env;

const statOf = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ppid, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, ppid: Number(ppid), startTime: rest[17] };
  } catch {
    return undefined;
  }
};
const note = (what, fields = {}) =>
  appendFileSync(ledger, `${JSON.stringify({ by: 'agent', what, at: Date.now(), task, attempt, ...fields })}\n`);

const before = readFileSync(ledger, 'utf8')
  .split('\n')
  .filter((line) => line.includes(`"${task}"`) && line.includes('"by":"agent"'))
  .map((line) => JSON.parse(line));
const supervisors = [process.ppid, statOf(process.ppid)?.ppid];
note('start', { pid: process.pid, startTime: statOf(process.pid)?.startTime, supervisors, mode });
for (const { what, attempt: other, pid, startTime } of before) {
  const standing = what === 'start' ? statOf(pid) : undefined;
  if (standing?.startTime === startTime && standing && !'ZX'.includes(standing.state)) {
    note('overlap', { other });
  }
}
process.on('exit', (code) => note('end', { code }));

/** Prints a whole line, however full the pipe is. */
const print = (line) => {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') {
        throw error;
      }
    }
  }
};
const say = (event) => {
  const nonce = randomBytes(8).toString('hex');
  note('print', { nonce });
  print(JSON.stringify({ type: 'progress', message: `${event} ${nonce}` }));
};
const finish = (status, fields = {}) => {
  note('result', { status });
  print(JSON.stringify({ type: 'result', status, summary: `told to be ${status}`, ...fields }));
  process.exit(0);
};
const unavailable = { blockers: [{ code: 'network', summary: 'out of reach', retryable: true }] };

if (mode === 'fast') {
  // It reads nothing, and is gone before any worker has read its output.
  for (let line = 0; line < 20; line += 1) {
    say('fast');
  }
  finish(attempt.charCodeAt(attempt.length - 1) % 2 === 0 ? 'success' : 'failed');
}
const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { envelope } = JSON.parse(first);
if (mode === 'doomed') {
  finish('failed', unavailable);
}
if (mode === 'frail' && !before.some(({ what }) => what === 'result')) {
  finish('failed', unavailable);
}
const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=Bee', '-c', 'user.email=bee@localhost', ...args], { encoding: 'utf8' }).trim();
if (mode === 'halting' && !before.some(({ attempt: other }) => other !== attempt)) {
  // The first attempt of a task stands still in the middle of its work.
  writeFileSync('half.txt', `${attempt}\n`);
  git('add', '-A');
  git('commit', '--quiet', '-m', 'Half');
  writeFileSync('left.txt', `${attempt}\n`);
  note('halted', { sha: git('rev-parse', 'HEAD') });
  for (;;) {
    say('waits');
    await delay(Number(pauseMs));
  }
}
for (let step = 1; step <= Number(steps); step += 1) {
  const file = `${mode}-${step}.txt`;
  note('wrote', { file });
  writeFileSync(file, `${attempt}\n`);
  say(`step ${step}`);
  await delay(Number(pauseMs));
}
if (mode !== 'explore' && envelope.commitPolicy !== 'forbidden') {
  if (existsSync('.git')) {
    git('add', '-A');
  }
  git('commit', '--quiet', '-m', `Work of ${attempt}`);
  note('commit', { sha: git('rev-parse', 'HEAD') });
}
finish('success');
