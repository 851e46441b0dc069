import { type Profile, profileWrite } from '../../../contracts/settings/profile';
import { type SandboxPreset, sandboxPresetUpdate } from '../../../contracts/settings/sandbox';
import { runtimeManifest } from '../../../domain/capabilities';
import { type ContractInput, objectiveOf } from '../../../domain/contract';
import { anAgent } from './agent';
import { aTask, factoryTime } from './task';

const recorded = { revision: 1, createdAt: factoryTime, updatedAt: factoryTime };

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
  objective: objectiveOf(aTask({ description: 'now' })),
  phase: 'implement',
  commitPolicy: { value: 'allowed', source: 'default' },
  agent: anAgent(),
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
  runtime: runtimeManifest('process', { ok: true, diagnostics: [] }, { probedAt: factoryTime }),
  limits: { runTimeoutMs: 1000, outputLimitBytes: 2000, stopGraceMs: 500 },
  ...fields,
});
