import { agentConfig } from '../../../contracts/settings/agent-config';
import { type Profile, profileWrite } from '../../../contracts/settings/profile';
import { type SandboxPreset, sandboxPresetUpdate } from '../../../contracts/settings/sandbox';
import { type Task, task } from '../../../contracts/tasks/task';
import { runtimeManifest } from '../../../domain/capabilities';
import { type ContractInput, objectiveOf } from '../../../domain/contract';

/** When everything in a contract of the tests happened. */
export const contractTime = '2026-01-01T00:00:00.000Z';
const recorded = { revision: 1, createdAt: contractTime, updatedAt: contractTime };

export const anAgent = agentConfig.parse({ type: 'bee', name: 'Bee', provider: 'process', command: 'bee' });

export const aContractTask = (fields: object = {}): Task =>
  task.parse({ id: 'task_20260101_aaaaaa', title: 'Do it', ...recorded, ...fields });

export const aProfile = (fields: object = {}): Profile => ({
  id: 'careful',
  ...recorded,
  ...profileWrite.parse({ name: 'Careful', agent: 'bee', instructions: 'Take care.', ...fields }),
});

export const aPreset = (fields: object = {}): SandboxPreset => ({
  id: 'tight',
  ...recorded,
  ...sandboxPresetUpdate.parse({ name: 'Tight', ...fields }),
});

/** What a launch contract is compiled from; the same every time. */
export const aContractInput = (fields: Partial<ContractInput> = {}): ContractInput => ({
  taskId: 'task_20260101_aaaaaa',
  request: {},
  objective: objectiveOf(aContractTask({ description: 'now' })),
  phase: 'implement',
  commitPolicy: { value: 'allowed', source: 'default' },
  agent: anAgent,
  selection: { requestedAgent: null, reason: 'default agent' },
  profile: null,
  sandbox: null,
  maxRetries: 1,
  hostId: 'host-1',
  workspace: {
    repository: 'site',
    path: '/srv/worktrees/task_20260101_aaaaaa',
    branch: 'board/task_20260101_aaaaaa',
    baseline: { headSha: 'a'.repeat(40), dirty: false, files: [] },
  },
  runtime: runtimeManifest('process', { ok: true, diagnostics: [] }, { probedAt: contractTime }),
  limits: { runTimeoutMs: 1000, outputLimitBytes: 2000, stopGraceMs: 500 },
  ...fields,
});
