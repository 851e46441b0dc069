import { generateKeyPairSync } from 'node:crypto';
import { createSigner } from 'fast-jwt';
import { readEnvironment } from '../../../platform/config/env';
import { createLog } from '../../../platform/log/log';
import { installRuntime } from '../../../platform/temporal/runtime';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { openCommandSandbox } from '../../../services/workflow-runs/sandbox';
import { type RunningWorkflowRuns, startWorkflowRuns } from '../../../services/workflow-runs/start';
import { type TestTemporal, testTemporal } from '../../support/stack/temporal';
import { workflowRunsBundle } from '../../support/stack/workflow-bundle';

const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const issuer = 'https://issuer.example';

/** Authenticates the tests' callers. */
export const callerSettings = {
  WORKFLOW_RUNS_JWT_PUBLIC_KEY: publicKey,
  WORKFLOW_RUNS_JWT_ISSUER: issuer,
  WORKFLOW_RUNS_USERS: 'ann,ben',
};

/** A token as callers bring it; claims may be set otherwise. */
export const tokenOf = (user: string, claims: Record<string, unknown> = {}, key = privateKey): string =>
  createSigner({ key, algorithm: 'EdDSA' })({
    iss: issuer,
    sub: `https://people.example/users/${user}`,
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 600,
    ...claims,
  });

export interface Reply {
  status: number;
  headers: Headers;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
}

export interface WorkflowRunsUnderTest {
  service: RunningWorkflowRuns;
  temporal: TestTemporal;
  dataDir: string;
  /** Of its worker. */
  taskQueue: string;
  /** `token: null` presents none; ann's by default. A text that is no JSON is returned unchanged. */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Reply>;
  /** The raw response, for streams. */
  open(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** Ends the service and starts it again on the same data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

let held: { token: string; untilMs: number } | undefined;
/** A token of ann's, which lasts for the calls of a minute: signing one parses the key. */
function usualToken(): string {
  if (!held || held.untilMs < Date.now()) {
    held = { token: tokenOf('ann'), untilMs: Date.now() + 60_000 };
  }
  return held.token;
}

const parse = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};

/** The whole service on a free port, with a queue and a store of its own, on the Temporal server the tests share. */
export async function startServiceUnderTest(
  settings: Record<string, string> = {},
  { reconcileEveryMs = 0, ...sweeping }: { reconcileEveryMs?: number; sweepEveryMs?: number } = {},
): Promise<WorkflowRunsUnderTest> {
  const log = createLog({ name: 'test-workflow-runs', level: 'silent' });
  installRuntime(log);
  const temporal = await testTemporal();
  const directory = await makeTempDir('workflow-runs');
  const taskQueue = temporal.unique('workflow-runs');
  const env = readEnvironment({
    BOARD_AUTH_ENABLED: 'false',
    BOARD_DRAIN_MS: '0',
    BOARD_DATA_DIR: directory.path,
    NODE_ENV: 'test',
    WORKFLOW_RUNS_PORT: '0',
    ...callerSettings,
    ...settings,
  });
  const start = async () =>
    startWorkflowRuns({
      sandbox: await openCommandSandbox(env),
      env,
      log,
      client: temporal.client,
      connection: temporal.nativeConnection,
      workflows: { workflowBundle: workflowRunsBundle },
      taskQueue,
      reconcileEveryMs,
      ...sweeping,
    });
  let service = await start().catch(async (error: unknown) => {
    await temporal.close();
    await directory.remove();
    throw error;
  });

  const open: WorkflowRunsUnderTest['open'] = (method, path, { body, headers = {}, signal } = {}) =>
    fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${usualToken()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });

  return {
    get service() {
      return service;
    },
    temporal,
    dataDir: directory.path,
    taskQueue,
    open,
    async call(method, path, body, token = usualToken()) {
      const headers = { authorization: token === null ? '' : `Bearer ${token}` };
      const response = await open(method, path, { body, headers });
      return { status: response.status, headers: response.headers, body: parse(await response.text()) };
    },
    async restart() {
      await service.close();
      service = await start();
    },
    async close() {
      await service.close();
      await temporal.close();
      await directory.remove();
    },
  };
}
