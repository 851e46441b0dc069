import { join } from 'node:path';
import WebSocket from 'ws';
import { BoardError } from '../../clients/typescript/src';
import { createRepository } from '../../scripts/demo/sample';
import type { RunningService } from '../../scripts/start-all';
import { load, type Row, type Sample } from '../floor/samples';
import { inParallel } from '../latency';
import { addRepository, boardOf, configureAgents, createTask, startRun } from '../service';

/** Detects ends by the task that shows them. */
class Ends {
  private readonly waiting = new Map<string, () => void>();
  private readonly ended = new Set<string>();

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      const { type, task } = JSON.parse(data.toString('utf8')) as {
        type: string;
        task?: { attempt?: { id: string; result?: string } };
      };
      if (type !== 'task:updated' || !task?.attempt?.result) {
        return;
      }
      this.ended.add(task.attempt.id);
      this.waiting.get(task.attempt.id)?.();
    });
  }

  static async open(apiUrl: string): Promise<Ends> {
    const socket = new WebSocket(`${apiUrl.replace('http', 'ws')}/ws`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'subscribe:tasks' }));
    return new Ends(socket);
  }

  async of(attemptId: string): Promise<void> {
    if (!this.ended.has(attemptId)) {
      await new Promise<void>((resolve) => this.waiting.set(attemptId, resolve));
    }
  }

  close(): void {
    this.socket.terminate();
  }
}

/** Runs of an agent that does nothing, in worktrees that exist. */
export interface NoopRuns {
  /** Measures so many runs, so many at a time, each caller with a task of its own. */
  measure(name: string, load: { callers: number; runs: number }): Promise<Row>;
  close(): void;
}

/** Prepares a repository and a task for each caller, warmed by a first run that makes its worktree. */
export async function openNoopRuns(
  service: Pick<RunningService, 'apiUrl'>,
  directory: string,
  callers: number,
): Promise<NoopRuns> {
  const repository = join(directory, 'sample');
  await createRepository(repository);
  const board = boardOf(service);
  await addRepository(board, { name: 'sample', path: repository });
  await configureAgents(board, [{ type: 'noop', name: 'No-op', provider: 'process', command: 'true' }]);
  const ends = await Ends.open(service.apiUrl);
  const run = async (taskId: string): Promise<Sample> => {
    const startedAt = performance.now();
    const { attemptId } = await startRun(board, taskId);
    const runningMs = performance.now() - startedAt;
    await ends.of(attemptId);
    return { runningMs, doneMs: performance.now() - startedAt };
  };
  const tasks = await Promise.all(
    Array.from({ length: callers }, (_, n) => createTask(board, { title: `Task ${n}`, git: { repo: 'sample' } })),
  );
  await inParallel(tasks.length, 5, async (n) => {
    await run(tasks[n] ?? '');
  });
  return {
    async measure(name, { callers: atOnce, runs }) {
      const free = tasks.slice(0, atOnce);
      return load(name, { callers: atOnce, times: runs }, async () => {
        const task = free.pop();
        if (!task) {
          throw new Error('more callers than tasks');
        }
        const sample = await untilFree(() => run(task));
        free.push(task);
        return sample;
      });
    },
    close: () => ends.close(),
  };
}

/** The task shows the result a moment before it may be launched again: that moment is not the run's. */
async function untilFree(run: () => Promise<Sample>): Promise<Sample> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof BoardError) || error.code !== 'RUN_ACTIVE') {
        throw error;
      }
    }
  }
}
