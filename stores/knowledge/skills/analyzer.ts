import { Worker } from 'node:worker_threads';
import { notExamined, type SkillAnalysis } from '../../../domain/skills/analyze';
import type { SkillContent } from '../../../domain/skills/content';
import { compiledScript } from '../../../platform/processes/compiled-script';

/** Examines a skill. One whose examination takes too long, or too much memory, is reported as not examined. */
export type AnalyzeSkill = (content: SkillContent) => Promise<SkillAnalysis>;

export interface AnalyzerOptions {
  /** How long one skill may take, in milliseconds. */
  withinMs?: number;
  /** How long a thread waits for the next one, in milliseconds. */
  idleMs?: number;
  script?: string;
}

/**
 * Examines skills in a thread of their own, one at a time: the process that serves callers, or supervises agents, goes on
 * meanwhile. The thread is ended when it has nothing to do.
 */
export function createSkillAnalyzer(options: AnalyzerOptions = {}): AnalyzeSkill {
  const { withinMs = 30_000, idleMs = 2_000, script = compiledScript(__dirname, 'thread.js') } = options;
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function threadOf(): Worker {
    clearTimeout(idle);
    if (thread) {
      return thread;
    }
    const started = new Worker(script, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 },
    });
    // What it fails with is of interest only while it examines something.
    started.on('error', () => undefined);
    started.on('exit', () => leave(started));
    thread = started;
    return started;
  }

  function leave(one: Worker): void {
    if (thread === one) {
      thread = undefined;
    }
  }

  function rest(): void {
    const resting = thread;
    if (!resting) {
      return;
    }
    // A process ends although its thread waits.
    resting.unref();
    idle = setTimeout(() => {
      leave(resting);
      void resting.terminate();
    }, idleMs);
    idle.unref();
  }

  function analyze(content: SkillContent): Promise<SkillAnalysis> {
    const running = threadOf();
    running.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => fail(), withinMs);
      const settle = (analysis: SkillAnalysis): void => {
        clearTimeout(timer);
        running.off('message', settle).off('error', fail).off('exit', fail);
        resolve(analysis);
      };
      const fail = (): void => {
        leave(running);
        void running.terminate();
        settle(notExamined(content));
      };
      running.on('message', settle).on('error', fail).on('exit', fail);
      running.postMessage(content);
    });
  }

  return (content) => {
    const result = turn.then(() => analyze(content)).finally(rest);
    turn = result.catch(() => undefined);
    return result;
  };
}
