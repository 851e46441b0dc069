import { Worker } from 'node:worker_threads';
import { bulkhead } from 'cockatiel';
import { compiledScript } from '../../../platform/processes/compiled-script';
import type { Finding, Look } from './messages';
import { FileRefused } from './refused';

/** What a file turned out to be. */
export interface Examined {
  mimeType: string;
  /** `undefined` when there is none, or none that can be read. */
  text: string | undefined;
}

/** @throws FileRefused when the file may not be attached */
export type Examine = (file: Look) => Promise<Examined>;

export interface ExamineOptions {
  /** How many files are looked at at a time; the others wait. */
  threads?: number;
  /** How long a file may be looked at, in milliseconds. */
  withinMs?: number;
  startThread?: (file: Look) => Worker;
}

const script = compiledScript(__dirname, 'thread.js');

/** What a parser says about a file is nobody's: its output is taken and forgotten. */
const startLimited = (file: Look): Worker =>
  new Worker(script, {
    workerData: file,
    stdout: true,
    stderr: true,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });

/** Looks at files, each in a thread of its own that is ended when it takes too long or too much. */
export function createExamine(options: ExamineOptions = {}): Examine {
  const { threads = 2, withinMs = 5_000, startThread = startLimited } = options;
  const turns = bulkhead(threads, Number.MAX_SAFE_INTEGER);
  return (file) => turns.execute(() => lookAt(startThread(file), withinMs));
}

/** What a thread has found by the time it ends: nothing it does not get to takes back what it has said. */
function lookAt(thread: Worker, withinMs: number): Promise<Examined> {
  return new Promise((resolve, reject) => {
    let mimeType: string | undefined;
    let text: string | undefined;
    let refusal = 'The content cannot be examined.';
    const timer = setTimeout(() => void thread.terminate(), withinMs);
    thread
      .on('message', (finding: Finding) => {
        if (finding.kind === 'accepted') mimeType = finding.mimeType;
        else if (finding.kind === 'text') text = finding.text;
        else refusal = finding.reason;
      })
      // A parser that fails, or takes too much memory: the thread ends with it.
      .on('error', () => undefined)
      .on('exit', () => {
        clearTimeout(timer);
        if (mimeType === undefined) reject(new FileRefused(refusal));
        else resolve({ mimeType, text });
      });
    thread.stdout.resume();
    thread.stderr.resume();
  });
}
