import { Worker } from 'node:worker_threads';
import { bulkhead } from 'cockatiel';
import { compiledScript } from '../../../../platform/processes/compiled-script';
import type { Found, Search } from './messages';

/** The result of each search; `undefined` for one that took too long. */
export type FindPatterns = (searches: readonly Search[]) => Promise<(Found | undefined)[]>;

export interface FindPatternsOptions {
  /** How many threads search at a time; further calls wait. */
  threads?: number;
  /** How long the search for one pattern may take, in milliseconds. */
  withinMs?: number;
  /** How many patterns of one call may take too long before the rest is skipped. */
  mostSlow?: number;
}

const script = compiledScript(__dirname, 'thread.js');

/**
 * Searches texts of agents for callers' patterns: together they may take for ever, so this is done in a thread, which is ended
 * when a pattern takes too long; another thread continues after it.
 */
export function createFindPatterns({
  threads = 2,
  withinMs = 500,
  mostSlow: maxSlow = 3,
}: FindPatternsOptions = {}): FindPatterns {
  const turns = bulkhead(threads, Number.MAX_SAFE_INTEGER);
  return (searches) =>
    turns.execute(async () => {
      const results: (Found | undefined)[] = [];
      let slow = 0;
      while (results.length < searches.length && slow < maxSlow) {
        results.push(...(await untilTooSlow(searches.slice(results.length), withinMs)));
        if (results.length === searches.length) {
          break;
        }
        results.push(undefined);
        slow += 1;
      }
      return searches.map((_, at) => results[at]);
    });
}

/** The results before a search took too long, or the thread failed. */
function untilTooSlow(searches: readonly Search[], withinMs: number): Promise<Found[]> {
  return new Promise((resolve) => {
    const results: Found[] = [];
    const thread = new Worker(script, {
      workerData: searches,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    });
    const end = (): void => void thread.terminate();
    let timer: NodeJS.Timeout | undefined;
    const waitForNext = (): void => {
      clearTimeout(timer);
      timer = setTimeout(end, withinMs);
    };
    thread
      // Starting a thread takes its time on a busy machine, and is not the pattern's fault.
      .on('online', waitForNext)
      .on('message', (one: Found) => {
        results.push(one);
        waitForNext();
      })
      // A pattern that takes too much memory: the thread ends with it.
      .on('error', () => undefined)
      .on('exit', () => {
        clearTimeout(timer);
        resolve(results);
      });
  });
}
