import { createHash, randomBytes } from 'node:crypto';
import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ulid } from 'ulid';
import type { Log } from '../../../platform/log/log';
import { runExclusive } from '../../../platform/operations/keyed-mutex';
import { cut } from '../../../platform/text/cut';
import type { CommandSandbox } from '../commands/command-sandbox';
import { confine, NotStartedError } from '../commands/confine';
import { type RunningProgram, startProgram } from '../commands/run-program';
import { OutsideWorkspaceError, type Workspaces } from '../commands/workspace';
import { refuse } from '../http/errors';
import type { RunRecord } from '../runs/run';
import type { PreviewEnd, PreviewRecord, PreviewStore } from './preview';
import { type PreviewTarget, startPreviewProxy } from './proxy';

/** How many there are at a time, and how many URLs of each. */
const most = { ofRun: 3, ofService: 20, urls: 10 } as const;
/** What is stored of each stream, in characters. */
const storedCharacters = 20_000;

export interface PreviewRequest {
  port: number;
  expiresInSecs: number;
  user: string;
  /** Absent: another URL of a preview that there is. */
  command?: string[] | undefined;
  directory?: string | undefined;
  sandbox?: string | undefined;
}

interface Preview {
  record: PreviewRecord;
  target: PreviewTarget;
  program: RunningProgram;
  urls: number;
  /** Ends it, once; resolves when that is stored. */
  stop: (why: PreviewEnd) => Promise<void>;
}

interface PreviewDependencies {
  /** Where the sockets of previews are; absent where commands are not run. */
  directory: string;
  sandbox: CommandSandbox | undefined;
  workspaces: Pick<Workspaces, 'whereIs' | 'pathOf'>;
  store: PreviewStore;
  queue: string;
  /** Of 127.0.0.1; absent where previews are off. */
  port: number | undefined;
  now: () => Date;
  log: Log;
}

/** The key that a token is found by: nothing that is compared byte for byte with what callers send. */
const keyOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

const cutOff = ({ text, bytes }: { text: string; bytes: number }) => ({ text: cut(text, storedCharacters), bytes });

/**
 * The programs of runs that serve a port for a while. They are processes of this one and end with it, by the system where it is killed;
 * nothing of them is continued, so they are no workflow.
 *
 * @throws ListenError when the port of previews is taken
 */
export async function openPreviews(dependencies: PreviewDependencies) {
  const { directory, sandbox, workspaces, store, queue, port, now, log } = dependencies;
  const live = new Map<string, Preview>();
  const urls = new Map<string, { preview: Preview; expiresAt: number }>();
  await store.endLost(queue, now().toISOString());
  await removeSockets(directory);
  const proxy =
    port === undefined
      ? undefined
      : await startPreviewProxy(port, (token) => {
          const found = urls.get(keyOf(token));
          return found && found.expiresAt > now().getTime() ? found.preview.target : undefined;
        });

  const ofRun = (runId: string): Preview[] => [...live.values()].filter(({ record }) => record.run_id === runId);

  /** @throws AppError 409 when there is none to open, or as many as there may be */
  async function start(run: RunRecord, request: PreviewRequest & { command: string[] }): Promise<Preview> {
    const { port: serves, command, directory: at = run.defaults?.directory, user } = request;
    if (!sandbox) {
      throw refuse(409, 'Commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.');
    }
    const preset = request.sandbox ?? run.defaults?.sandbox ?? sandbox.presets[0];
    const problem = (await sandbox.problem(preset)) ?? sandbox.servingProblem(preset);
    if (problem !== undefined) {
      throw refuse(409, problem);
    }
    const workspace = await workspaceOf(run._id);
    if (ofRun(run._id).length >= most.ofRun || live.size >= most.ofService) {
      throw refuse(
        409,
        `There are ${most.ofRun} previews of a run at most, and ${most.ofService} of the service. Delete one, or wait until one expires.`,
      );
    }
    const confined = await confine({ argv: command, directory: at, preset, serves }, { sandbox, workspace }).catch(
      (error: unknown) => {
        const isOfCaller = error instanceof NotStartedError || error instanceof OutsideWorkspaceError;
        throw isOfCaller ? refuse(409, error.message) : error;
      },
    );
    const startedAt = now();
    const timeoutMs = request.expiresInSecs * 1_000;
    const record: PreviewRecord = {
      ...{ _id: ulid(startedAt.getTime()), run_id: run._id, queue, port: serves, command, created_by: user },
      ...{ status: 'running', started_at: startedAt.toISOString() },
      expires_at: new Date(startedAt.getTime() + timeoutMs).toISOString(),
    };
    try {
      await store.insert(record);
    } catch (error) {
      await confined.sandbox.close();
      throw error;
    }
    const ending = new AbortController();
    const connections = new Set<Duplex>();
    const program = startProgram(confined.program, { ...confined, timeoutMs, signal: ending.signal });
    let why: PreviewEnd | undefined;
    const over = program.ended
      .then(
        ({ exitCode, timedOut }) => ({
          exit_code: exitCode,
          end: timedOut ? ('expired' as const) : ('exited' as const),
        }),
        () => ({ exit_code: null, end: why ?? ('exited' as const) }),
      )
      .then(async (ended) => {
        live.delete(record._id);
        for (const [key, { preview: of }] of urls) {
          if (of === preview) {
            urls.delete(key);
          }
        }
        connections.forEach((each) => each.destroy());
        await confined.sandbox.close();
        const { stdout, stderr } = program.output();
        await store.end(record._id, {
          ...ended,
          ended_at: now().toISOString(),
          ...{ stdout: cutOff(stdout), stderr: cutOff(stderr) },
        });
      })
      .catch((err: unknown) => log.warn({ err, runId: run._id }, 'the end of a preview is not stored'));
    const preview: Preview = {
      record,
      program,
      urls: 0,
      target: { port: serves, connections, connect: () => confined.sandbox.connect() },
      stop: async (reason) => {
        why ??= reason;
        ending.abort(new Error(`The preview is over: ${reason}.`));
        await over;
      },
    };
    live.set(record._id, preview);
    return preview;
  }

  /** @throws AppError 409 where there is none, or not here */
  async function workspaceOf(runId: string): Promise<string> {
    const where = await workspaces.whereIs(runId);
    if (where === 'elsewhere') {
      throw refuse(409, 'The workspace of the run is on another host, whose service previews it.');
    }
    const found = where === 'here' ? await realpath(workspaces.pathOf(runId)).catch(() => undefined) : undefined;
    if (found === undefined) {
      throw refuse(409, 'Run has no active sandbox: no command of it has begun, or its workspace was removed.');
    }
    return found;
  }

  return {
    /** Starts the command of a preview, or finds one on the port that runs, and makes a URL of it. @throws AppError 409 */
    open: (run: RunRecord, request: PreviewRequest) =>
      runExclusive(`workflow run previews/${queue}`, async () => {
        if (!proxy) {
          throw refuse(409, 'Runs are not previewed here: WORKFLOW_RUNS_PREVIEW_PORT is not set.');
        }
        const { port: serves, command, expiresInSecs } = request;
        const there = ofRun(run._id).find(({ record }) => record.port === serves);
        if (command && there) {
          throw refuse(
            409,
            `A preview on port ${serves} runs: delete it first, or leave out command for another URL of it.`,
          );
        }
        if (!command && !there) {
          throw refuse(409, `Run has no active sandbox that serves port ${serves}. Name the command to start.`);
        }
        const preview = there ?? (await start(run, { ...request, command: command ?? [] }));
        if (preview.urls >= most.urls) {
          throw refuse(409, `A preview has ${most.urls} URLs at most.`);
        }
        preview.urls += 1;
        const token = randomBytes(24).toString('hex');
        const expiresAt = Math.min(Date.parse(preview.record.expires_at), now().getTime() + expiresInSecs * 1_000);
        urls.set(keyOf(token), { preview, expiresAt });
        return { id: preview.record._id, url: proxy.urlOf(token), expires_at: new Date(expiresAt).toISOString() };
      }),

    /** What it has written so far; absent when it does not run here. */
    outputOf(id: string) {
      const output = live.get(id)?.program.output();
      return output && { stdout: cutOff(output.stdout), stderr: cutOff(output.stderr) };
    },

    /** Whether it ran here, and is over now. */
    async stop(id: string): Promise<boolean> {
      const preview = live.get(id);
      await preview?.stop('stopped');
      return preview !== undefined;
    },

    /** Ends those of a run, whose workspace is removed. */
    endOfRun: async (runId: string): Promise<void> =>
      void (await Promise.all(ofRun(runId).map(({ stop }) => stop('workspace-removed')))),

    async close(): Promise<void> {
      await Promise.all([...live.values()].map(({ stop }) => stop('service-ended')));
      await proxy?.close();
    },
  };
}

/** Removes what a process that was killed has left. */
async function removeSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (name.endsWith('.serve')) {
      await rm(join(directory, name), { recursive: true, force: true });
    }
  }
}

export type Previews = Awaited<ReturnType<typeof openPreviews>>;
