import { z } from 'zod';
import { abortableFetch } from '../../../platform/http/abortable-fetch';
import type { AgentAttempt, AgentLaunch } from './messages';

/** How long the board may take for an answer, in milliseconds; a stop waits for the end of its agent, a catalog for its servers. */
const timeoutMs = { usual: 30_000, stop: 60_000, catalog: 300_000 };

const refusal = z.object({
  error: z.string().optional(),
  code: z.string().optional(),
  details: z
    .object({
      retryAfterMs: z.number().optional(),
      approval: z.object({ id: z.string() }).optional(),
      /** Of a refused input: what is wrong, by its path. */
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    })
    .optional(),
});

/** What the board refuses a request with. */
export class BoardRefusal extends Error {
  override readonly name = 'BoardRefusal';

  readonly code: string;
  /** When it may be sent again, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
  /** The approval that it waits for. */
  readonly approvalId: string | undefined;

  constructor(
    readonly status: number,
    { error = `status ${status}`, code = 'UNKNOWN', details }: z.infer<typeof refusal>,
  ) {
    const issues = (details?.issues ?? []).map(({ path: at, message }) => `${at}: ${message}`);
    super([error, ...issues].join(' '));
    this.code = code;
    this.retryAfterMs = details?.retryAfterMs;
    this.approvalId = details?.approval?.id;
  }
}

const attempt = z.object({
  id: z.string(),
  rootAttemptId: z.string(),
  agent: z.string(),
  state: z.string(),
  completion: z
    .object({
      status: z.string(),
      summary: z.string(),
      error: z.string().optional(),
      harness: z
        .object({ headSha: z.string().optional(), committed: z.object({ sha: z.string() }).optional() })
        .optional(),
    })
    .optional(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), cost: z.number() }).optional(),
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type BoardAttempt = z.infer<typeof attempt>;
const recovery = z
  .object({
    attemptId: z.string(),
    rootAttemptId: z.string(),
    state: z.string(),
    reason: z.string(),
    nextAttemptId: z.string().optional(),
  })
  .nullable();
export type BoardRecovery = NonNullable<z.infer<typeof recovery>>;
const launched = z.object({ taskId: z.string(), attemptId: z.string() });
const created = z.object({ id: z.string() });
const toolCatalog = z.object({
  digest: z.string(),
  servers: z.array(
    z.object({
      serverId: z.string(),
      tools: z.array(
        z.object({
          name: z.string(),
          description: z.string().optional(),
          inputSchema: z.record(z.string(), z.unknown()),
          policy: z.string(),
        }),
      ),
    }),
  ),
});
/** The tools of a run, by their servers. */
export type CatalogTools = z.infer<typeof toolCatalog>['servers'];
const toolCall = z.object({
  id: z.string(),
  state: z.enum(['requested', 'dispatched', 'completed', 'failed', 'outcome-unknown']),
  result: z
    .object({
      content: z.array(z.unknown()),
      structuredContent: z.record(z.string(), z.unknown()).optional(),
      isError: z.boolean(),
    })
    .optional(),
  error: z.object({ message: z.string(), remedy: z.string() }).optional(),
  dispatchedAt: z.string().optional(),
  endedAt: z.string().optional(),
});
const withdrawal = z.object({ withdrawn: z.boolean() });
export type BoardToolCall = z.infer<typeof toolCall>;

/** A call of a tool; the same `operationId` is the same call. */
export interface BoardToolRequest {
  stageId: string;
  operationId: string;
  catalogDigest: string;
  serverId: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** How long its end is waited for, in milliseconds. */
  waitMs: number;
}

const path = (...parts: string[]): string => parts.map(encodeURIComponent).join('/');

export interface BoardOptions {
  url: string;
  /** An API token of the board. */
  token: string | undefined;
}

/** The API of the board, as far as stages of runs use it. */
export function createBoardClient({ url, token }: BoardOptions) {
  /** @throws BoardRefusal for any status but 2xx; any other error where the board does not answer */
  async function send(
    method: string,
    route: string,
    { body, key, withinMs = timeoutMs.usual }: { body?: unknown; key?: string; withinMs?: number } = {},
  ): Promise<unknown> {
    const response = await abortableFetch(new URL(`/api/${route}`, url), {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (response.ok) {
      return answer;
    }
    throw new BoardRefusal(response.status, refusal.parse(answer));
  }

  const openCatalog = async (runId: string, toolServers: string[]) =>
    toolCatalog.parse(
      await send('PUT', path('tool-servers', 'workflow-runs', runId, 'catalog'), {
        body: { toolServers },
        withinMs: timeoutMs.catalog,
      }),
    );

  return {
    /** Makes a task; the same one for the same key. */
    async createTask(
      { title, description, repository }: { title: string; description: string; repository?: string },
      key: string,
    ): Promise<string> {
      const git = repository === undefined ? {} : { git: { repo: repository } };
      return created.parse(await send('POST', 'tasks', { key, body: { title, description, ...git } })).id;
    },

    /** Launches or queues an agent; the same one for the same key. */
    async launch(taskId: string, launch: Omit<AgentLaunch, 'task'>): Promise<{ taskId: string; attemptId: string }> {
      const { runId, stageId, key, root, agent, profile, sandbox, model, phase, commits } = launch;
      const body = {
        taskId,
        rootReservationId: root,
        agent,
        profileId: profile,
        sandboxPresetId: sandbox,
        model,
        phase,
        commitPolicy: commits,
      };
      return launched.parse(
        await send('POST', `${path('workflows', 'runs', runId, 'steps', stageId)}/start`, { key, body }),
      );
    },

    attempt: async ({ taskId, attemptId }: Pick<AgentAttempt, 'taskId' | 'attemptId'>): Promise<BoardAttempt> =>
      attempt.parse(await send('GET', path('agents', taskId, 'attempts', attemptId))),

    /** The latest recovery of a task; nothing when it has none. */
    recovery: async (taskId: string): Promise<BoardRecovery | undefined> =>
      recovery.parse(await send('GET', path('agents', taskId, 'recovery'))) ?? undefined,

    stop: ({ taskId, attemptId }: Pick<AgentAttempt, 'taskId' | 'attemptId'>): Promise<unknown> =>
      send('POST', path('agents', taskId, 'stop'), { body: { attemptId }, withinMs: timeoutMs.stop }),

    /** Opens the tool catalog of a run, the same for as long as it is there. */
    openToolCatalog: openCatalog,

    /** What is in it. */
    catalogTools: async (runId: string, toolServers: string[]): Promise<CatalogTools> =>
      (await openCatalog(runId, toolServers)).servers,

    callTool: async (runId: string, call: BoardToolRequest): Promise<BoardToolCall> =>
      toolCall.parse(await send('POST', path('tool-servers', 'workflow-runs', runId, 'calls'), { body: call })),

    /** @returns whether the approval was still waited for */
    withdrawToolCall: async (runId: string, approvalId: string): Promise<boolean> =>
      withdrawal.parse(
        await send('POST', path('tool-servers', 'workflow-runs', runId, 'withdraw'), { body: { approvalId } }),
      ).withdrawn,

    cancelRecovery: (taskId: string, attemptId: string): Promise<unknown> =>
      send('POST', path('agents', taskId, 'recovery', 'cancel'), { body: { attemptId } }),
  };
}

export type BoardClient = ReturnType<typeof createBoardClient>;
