import fc from 'fast-check';
import { agentConfig } from '../contracts/agent-config';
import { runtimeManifest } from './capabilities';
import { commitPolicyOf, compileContract, renderTransport, type ContractInput } from './contract';
import { digestOf } from './digest';
import { task } from '../contracts/task';

const agent = agentConfig.parse({ type: 'bee', name: 'Bee', provider: 'process', command: 'bee' });
const at = '2026-01-01T00:00:00.000Z';
const aTask = (fields: object = {}) =>
  task.parse({ id: 'task_20260101_aaaaaa', title: 'Do it', createdAt: at, updatedAt: at, revision: 1, ...fields });

const input = (fields: Partial<ContractInput> = {}): ContractInput => ({
  attemptId: 'attempt_aaaaaaaa',
  taskId: 'task_20260101_aaaaaa',
  objective: { title: 'Do it', description: 'now', subtasks: [], allowedSideEffects: [], expectedOutputs: [] },
  phase: 'implement',
  commitPolicy: { value: 'allowed', source: 'default' },
  workspace: null,
  agent,
  selection: { requestedAgent: null, reason: 'default agent' },
  runtime: runtimeManifest('process', { ok: true, diagnostics: [] }, { probedAt: at }),
  ...fields,
});

test('the same input has the same digests, and each digest covers its document', () => {
  const first = compileContract(input());
  expect(compileContract(input())).toEqual(first);
  for (const { digest, ...document } of [first.taskEnvelope, first.runLaunchManifest])
    expect(digestOf(document)).toBe(digest);
  expect(first.runLaunchManifest.taskEnvelope.digest).toBe(first.taskEnvelope.digest);
});

test('another objective is another contract', () => {
  const other = input({ objective: { ...input().objective, description: 'later' } });
  expect(compileContract(other).runLaunchManifest.digest).not.toBe(compileContract(input()).runLaunchManifest.digest);
});

test('two probes with the same findings have one identity', () => {
  const probe = { ok: true, diagnostics: ['Found /bin/bee.'] };
  const [first, second] = [at, '2026-02-02T00:00:00.000Z'].map((probedAt) =>
    runtimeManifest('process', probe, { probedAt }),
  );
  expect(second?.digest).toBe(first?.digest);
});

test('the run decides the commit policy, then the task, then the default', () => {
  const asked = aTask({ executionPolicy: { commitPolicy: 'required' } });
  expect(commitPolicyOf({ commitPolicy: 'forbidden' }, asked)).toEqual({
    value: 'forbidden',
    source: 'launch request',
  });
  expect(commitPolicyOf({}, asked)).toEqual({ value: 'required', source: 'task' });
  expect(commitPolicyOf({}, aTask())).toEqual({ value: 'allowed', source: 'default' });
});

test('the transport carries the envelope and its own digest', () => {
  const { taskEnvelope } = compileContract(input());
  const { digest, ...transport } = renderTransport(taskEnvelope);
  expect(transport.envelope).toEqual(taskEnvelope);
  expect(digestOf(transport)).toBe(digest);
});

test('a digest depends on the value, not on the order of its fields', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(digestOf(reversed)).toBe(digestOf(value));
    }),
  );
});
