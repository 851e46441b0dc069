import { type ChildProcess, spawn } from 'node:child_process';
import { compiledScript } from '../../../../platform/processes/compiled-script';
import type { Look } from './messages';

/** What one process may take. */
const limits = {
  /** Memory it may write to, heap and buffers alike: the system refuses more (Linux; elsewhere the heap is bounded). */
  dataKilobytes: 393_216,
  heapMegabytes: 192,
  /** Processor time, should its parent be gone. */
  cpuSeconds: 15,
} as const;

/** Sets the limits for itself and becomes the process: a shell is there, and node has no call for it. */
const launcher = `ulimit -c 0; ulimit -t ${limits.cpuSeconds}; ulimit -d ${limits.dataKilobytes}; exec "$0" "$@"`;

const script = compiledScript(__dirname, 'extract.js');

/**
 * Starts a process that examines a file, with hard limits of memory and processor time, nothing of our environment, and a group
 * of its own. A parser's output about a file is discarded.
 */
export const startLimited = (file: Look): ChildProcess =>
  spawn(
    '/bin/sh',
    [
      '-c',
      launcher,
      process.execPath,
      `--max-old-space-size=${limits.heapMegabytes}`,
      '--max-semi-space-size=8',
      '--v8-pool-size=1',
      '--disable-proto=throw',
      script,
      JSON.stringify(file),
    ],
    { cwd: '/', env: { UV_THREADPOOL_SIZE: '1' }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true },
  );
