import type { WorkflowContext } from '../../api/context';
import { conversationRoutes } from '../../api/runs/conversation/routes';
import { runtimeManifest } from '../../domain/capabilities';
import { providerDigest } from '../../domain/integrity';
import type { Routes } from '../../platform/http/routing/routes';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { aCompletion, anAttempt, at, taskId } from '../support/factories/records';

const id = 'attempt_fence000001';
const probed = runtimeManifest('process', { ok: true, diagnostics: [] }, { probedAt: at(0) });
const withCapabilities = (capabilities: typeof probed.capabilities) => {
  const changed = { ...probed, capabilities };
  return { ...changed, digest: providerDigest(changed) };
};
const others = probed.capabilities.filter((capability) => capability.id !== 'run.resume');
const manifest = withCapabilities([...others, { ...others[0]!, id: 'run.resume', state: 'supported' }]);
const completion = { ...aCompletion('done'), claims: { continuation: { kind: 'session', id: 's' } } };
const ended = { state: 'ended', completion, providerRuntimeManifest: manifest } as unknown as Partial<AttemptRecord>;

/** Requests to continue the session of an attempt; what is beyond the refusals of that is not there. */
function resume(record: Partial<AttemptRecord>, agents: { type: string; provider: string }[]): Promise<unknown> {
  const handlers = new Map<string, (request: object) => Promise<unknown>>();
  const routes = { add: ({ path }: { path: string }, handler: never) => void handlers.set(path, handler) };
  const context = {
    attempts: { get: async () => anAttempt(id, record) },
    routing: { inputs: async () => ({ agents }) },
    launches: { find: async () => undefined },
    launch: () => Promise.reject(new Error('launched')),
  };
  conversationRoutes(routes as unknown as Routes, context as unknown as WorkflowContext);
  return handlers.get('/agents/:taskId/conversation/resume')!({
    params: { taskId },
    body: { sourceAttemptId: id, message: 'Go on.' },
    auth: { actor: 'user:ada', workspaceId: 'local' },
    header: () => undefined,
  });
}
const bee = [{ type: 'bee', provider: 'process' }];

describe('the fence of a conversation', () => {
  it.each([
    ['of another provider now', [{ type: 'bee', provider: 'acp' }], 'acp'],
    ['configured no more', [{ type: 'wasp', provider: 'process' }], null],
  ])('a session is not resumed when its agent is %s', async (_, agents, now) => {
    await expect(resume(ended, agents)).rejects.toMatchObject({
      code: 'PROVIDER_CHANGED',
      status: 409,
      details: { provider: 'process', now },
    });
  });

  it.each([
    ['that goes on', { ...ended, completion: undefined }, 'SOURCE_NOT_TERMINAL'],
    ['whose agent cannot', { ...ended, providerRuntimeManifest: withCapabilities(others) }, 'CAPABILITY_UNSUPPORTED'],
    [
      'that left nothing with its provider',
      { ...ended, completion: { ...completion, claims: {} } },
      'NO_PROVIDER_IDENTITY',
    ],
    [
      'whose contract was changed',
      { ...ended, providerRuntimeManifest: { ...manifest, adapter: 'x' } },
      'MANIFEST_MISMATCH',
    ],
  ])('nor is one of an attempt %s', async (_, record, code) => {
    await expect(resume(record as unknown as Partial<AttemptRecord>, bee)).rejects.toMatchObject({ code });
  });

  it('a session of the same provider is resumed', async () => {
    const refused = await resume(ended, bee).catch((error: unknown) => error);
    expect(refused).not.toMatchObject({ status: 409 });
  });
});
