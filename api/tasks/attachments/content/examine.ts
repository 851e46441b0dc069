import type { ChildProcess } from 'node:child_process';
import { createFairQueue } from '../../../../platform/operations/fair-queue';
import { startLimited } from './limited-process';
import type { Finding, Look, TextProblem } from './messages';
import { FileRefused } from './refused';

/** What a file turned out to be. */
export interface Examined {
  mimeType: string;
  /** `undefined` when there is none, or none that can be read. */
  text: string | undefined;
  /** Why no text could be read, where there may be some. */
  problem?: TextProblem;
}

/**
 * @param caller whose file it is: each has a queue of its own
 * @throws FileRefused when the file may not be attached
 */
export type Examine = (file: Look, caller: string) => Promise<Examined>;

export interface ExamineOptions {
  /** How many files are examined at a time; the others wait. */
  processes?: number;
  /** How long the examination of a file may take, in milliseconds. */
  withinMs?: number;
  startProcess?: (file: Look) => ChildProcess;
}

/** Examines files, each in a process of its own that is killed when it takes too long or too much. */
export function createExamine(options: ExamineOptions = {}): Examine {
  const { processes = 2, withinMs = 5_000, startProcess = startLimited } = options;
  const queue = createFairQueue({
    concurrency: processes,
    longest: 100,
    refusal: {
      code: 'TOO_MANY_UPLOADS',
      message: 'Too many of your files are waiting for inspection. Send them again later.',
    },
  });
  return (file, caller) => queue.run(caller, () => examineIn(startProcess(file), withinMs));
}

/** Collects the findings of a process until it ends; an early end revokes no earlier finding. */
function examineIn(child: ChildProcess, withinMs: number): Promise<Examined> {
  return new Promise((resolve, reject) => {
    let mimeType: string | undefined;
    let text: string | undefined;
    let problem: TextProblem | undefined;
    let refusal = 'The content cannot be inspected.';
    const timer = setTimeout(() => {
      problem = 'limit';
      killGroup(child);
    }, withinMs);
    child.on('message', (finding: Finding) => {
      if (finding.kind === 'accepted') {
        mimeType = finding.mimeType;
      } else if (finding.kind === 'text') {
        text = finding.text;
      } else if (finding.kind === 'no-text') {
        problem = finding.problem;
      } else {
        refusal = finding.reason;
      }
    });
    void endOf(child).then(({ code, signal }) => {
      clearTimeout(timer);
      if (mimeType === undefined) {
        return reject(new FileRefused(refusal));
      }
      const why = problem ?? ending(code, signal);
      resolve({ mimeType, text, ...(text === undefined && why !== undefined ? { problem: why } : {}) });
    });
  });
}

/** Resolves once the process has ended, or never started, and all its messages were received. */
function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const silent = new Promise<void>((resolve) => {
    child.once('disconnect', resolve);
    if (!child.connected) {
      resolve();
    }
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', () => {
      if (child.pid === undefined) {
        resolve({ code: 1, signal: null });
      }
    });
  });
  return Promise.all([ended, child.pid === undefined ? undefined : silent]).then(([end]) => end);
}

/** The meaning of a process's end: one that is out of memory, or of time, ends by a signal. */
function ending(code: number | null, signal: NodeJS.Signals | null): TextProblem | undefined {
  if (signal !== null || (code !== null && code >= firstSignal)) {
    return 'limit';
  }
  return code === 0 ? undefined : 'unreadable';
}

/** Node aborts with 128 and more where it cannot signal itself. */
const firstSignal = 128;

/** Ends it with what a parser may have been made to start. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has ended already.
  }
}
