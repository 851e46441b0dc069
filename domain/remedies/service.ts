import type { Remedy } from './remedy';

const context = (remedy: string): Remedy => [{ call: 'GET /api/auth/context', remedy }];
const callbackSecret: Remedy = [
  {
    call: 'POST /api/agents/:taskId/attempts/:attemptId/callback-secret',
    remedy: 'Have a new callback secret issued; the one before is void then.',
  },
];

/** Refusals that any operation may answer: keys, permissions, settings, repetitions, space. */
export const serviceRemedies: Record<string, Remedy> = {
  IDEMPOTENCY_KEY_REUSED: [{ call: 'repeat', remedy: 'Repeat the request with a new Idempotency-Key.' }],
  IDEMPOTENCY_KEY_IN_USE: [{ call: 'repeat', remedy: 'Repeat the request with the same key after Retry-After.' }],
  FORBIDDEN: context('Read the permissions of the key; use one that has the required permission.'),
  WRITE_FORBIDDEN: context('Read the role of the key; use one that may write.'),
  INSTALLATION_SETTING: {
    none: 'An administrator of the installation sets it in the workspace local, for all workspaces.',
  },
  FEATURE_DISABLED: [
    { call: 'PATCH /api/settings/features', remedy: 'Set the feature setting in details.setting to true.' },
  ],
  CALLBACK_SECRET_REQUIRED: callbackSecret,
  CALLBACK_SECRET_INVALID: callbackSecret,
  STORAGE_FULL: [{ call: 'GET /health/ready', remedy: 'Read which check fails; free space, or raise the limit.' }],
};
