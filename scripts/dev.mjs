/**
 * `npm run dev`: `npm start`, and again after each build of changed sources. What does not compile leaves the service that
 * runs as it is; a restart lets it end in order first.
 *
 * Sources are compared every second, with the scan that the build makes anyway: it takes milliseconds and, unlike a recursive
 * watcher, works alike on every system and file system.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { builtAt, changedAt } from './ensure-built.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const everyMs = 1_000;
/** The exit code of a service whose configuration is wrong: no change of a source mends that. */
const configurationErrorExitCode = 2;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stopping.abort());
}

const say = (text) => console.error(`dev: ${text}`);

function start(script, ...args) {
  const child = spawn(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' });
  return { child, exited: once(child, 'exit').then(([code]) => code) };
}

/** Ends a process in order; resolves when it has ended. */
async function end({ child, exited }) {
  child.kill('SIGTERM');
  await exited;
}

/** @returns whether what has changed could be built */
async function build() {
  const building = start('scripts/ensure-built.mjs', '--check-types');
  const stop = () => building.child.kill('SIGTERM');
  stopping.signal.addEventListener('abort', stop);
  const code = await building.exited;
  stopping.signal.removeEventListener('abort', stop);
  return code === 0;
}

/** `changedAt()` of the last build that failed: the same sources are not built again. */
let failedAt = 0;

/** @returns whether `dist/` is built from the sources as they are */
async function isBuilt() {
  const changed = changedAt();
  if (changed <= builtAt()) {
    return true;
  }
  if (changed <= failedAt) {
    return false;
  }
  if (await build()) {
    return true;
  }
  failedAt = changed;
  if (!stopping.signal.aborted) {
    say('the sources do not compile; waiting for a change');
  }
  return false;
}

let service;
/** Which build it runs, by `builtAt()`. */
let running = 0;
async function restart() {
  const previous = service;
  service = undefined;
  if (previous) {
    say('the sources have changed, restarting');
    await end(previous);
    if (stopping.signal.aborted) {
      return;
    }
  }
  running = builtAt();
  const started = (service = start('dist/scripts/start.js'));
  void started.exited.then((code) => {
    if (service !== started) {
      return;
    }
    service = undefined;
    if (stopping.signal.aborted) {
      return;
    }
    if (code === configurationErrorExitCode) {
      process.exitCode = code;
      stopping.abort();
    } else {
      say(`the service has ended (${code ?? 'killed'}); waiting for a change`);
    }
  });
}

while (!stopping.signal.aborted) {
  // Compared by the build and not by whether this process made it: tests that run beside it build too.
  if ((await isBuilt()) && builtAt() !== running && !stopping.signal.aborted) {
    await restart();
  }
  await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
}
if (service) {
  await end(service);
}
