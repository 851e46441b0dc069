import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { remedies } from '../../domain/remedies/remedies';
import { files, root } from './repository';

/** Codes in the same sources that no conflict (409) has, by what they are. */
const notConflicts: Record<string, string[]> = {
  'codes of other statuses': [
    'TOO_MANY_WORKFLOW_RUNS',
    ...['AUTH_REQUIRED', 'AUTHENTICATION_STALE', 'MOBILE_NOT_ALLOWED', 'CORS_REJECTED'],
    ...['CSRF_REJECTED', 'INVALID_PASSWORD', 'INVALID_CURRENT_PASSWORD', 'INVALID_RECOVERY_KEY', 'INVALID_SETUP_CODE'],
    ...['MISSING_PASSWORD', 'PASSWORD_TOO_SHORT', 'PASSWORD_SESSION_LOCAL_ONLY', 'INVALID_GRACE_PERIOD'],
    ...['BAD_REQUEST', 'VALIDATION_ERROR', 'NOTHING_IN_PROGRESS', 'REWIND_PATH_UNKNOWN', 'RANGE_NOT_SATISFIABLE'],
    ...[
      'NOT_FOUND',
      'FILE_NOT_FOUND',
      'REVISION_NOT_FOUND',
      'ATTACHMENT_CONTENT_GONE',
      'WORK_PRODUCT_CONTENT_GONE',
      'TRACE_NOT_RECORDED',
      'METHOD_NOT_ALLOWED',
    ],
    ...['PAYLOAD_TOO_LARGE', 'TASK_TOO_LARGE', 'ARTIFACT_TOO_LARGE', 'DIFF_TOO_LARGE', 'HEADERS_TOO_LARGE'],
    ...[
      'UNSUPPORTED_MEDIA_TYPE',
      'EXPECTATION_FAILED',
      'RATE_LIMITED',
      'TOO_MANY_UPLOADS',
      'TOO_MANY_SCANS',
      'TOO_MANY_QUERIES',
    ],
    ...['INTERNAL_ERROR', 'REQUEST_TIMEOUT', 'STORE_UNAVAILABLE', 'TEMPORAL_UNAVAILABLE', 'TASK_BUSY'],
    ...[
      'PREVIEW_FAILED',
      'DECISION_REVIEW_PENDING',
      'CHECK_UNFINISHED',
      'CHECK_PENDING',
      'DISCOVERY_UNFINISHED',
      'DISCOVERY_PENDING',
      'APPROVAL_PENDING',
      'DIFF_PENDING',
    ],
    ...['TOOL_CALL_PENDING', 'TOOL_CALL_REJECTED', 'TOOL_DENIED', 'TOOL_FORBIDDEN'],
    ...['FORGE_CHECK_PENDING', 'PULL_REQUEST_PENDING', 'PULL_REQUEST_NOT_FOUND', 'HOOKS_PENDING'],
    ...['TRACKER_PENDING', 'TRACKER_NOT_FOUND', 'TRACKER_RATE_LIMITED', 'TRACKER_UNAVAILABLE', 'TRACKER_FAILED'],
    ...['ISSUE_SYNC_PENDING', 'WEBHOOK_SECRET_MISSING', 'WEBHOOK_UNVERIFIED'],
    ...['INVENTORY_PENDING', 'PHASE_PENDING', 'REPOSITORY_PENDING', 'RETENTION_PENDING', 'REWIND_PENDING'],
    ...['INVALID_INVITATION_REQUEST', 'PAIRING_CODE_EXPIRED', 'PAIRING_CODE_INVALID', 'PAIRING_SIGNATURE_INVALID'],
    ...['OIDC_NOT_CONFIGURED', 'OIDC_LOGIN_NOT_PENDING', 'OIDC_UNPROVEN', 'OIDC_DENIED', 'OIDC_NO_ROLE', 'OIDC_DOMAIN'],
    ...['OIDC_PROVIDER_UNAVAILABLE', 'MEMBERSHIP_SUSPENDED', 'USER_DISABLED'],
    ...[
      'ADAPTER_REQUEST_PENDING',
      'DELIVERY_PENDING',
      'RUN_PENDING',
      'SCHEDULE_PENDING',
      'TREE_PENDING',
      'WORKTREE_PENDING',
    ],
  ],
  'failures of activities, which no request gets': [
    'LAUNCH_ENDED',
    ...['ALREADY_DISPATCHED', 'APPROVAL_ENDING_UNKNOWN', 'APPROVAL_MISSING', 'APPROVAL_NOT_DUE', 'ATTEMPT_MISSING'],
    ...['CONTRACT_CHANGED', 'CONTRACT_MISSING', 'HOOK_FAILED', 'PROVIDER_MISSING', 'REVISION_MOVED', 'RUN_GONE'],
    ...['ADAPTER_DELIVERY_FAILED', 'MODEL_REFUSED', 'MODEL_UNAVAILABLE'],
    ...['TARGET_MISSING', 'TOOL_CALL_MISSING', 'UNKNOWN_RETENTION', 'WORKER_SHUTDOWN', 'WORKSPACE_MISSING'],
  ],
  'why issues are not synchronised, in mappings and statuses': [
    ...['BODY_TOO_LONG', 'DUPLICATE_ISSUE', 'ISSUE_GONE', 'SYNC_INTERRUPTED', 'TASK_GONE'],
  ],
  'why goals wait, in their blockers and continuations': [
    ...['EVIDENCE_REQUIRED', 'GOAL_NOT_ACTIVE', 'GOAL_ROLLOVERS_USED', 'GOAL_TURNS_USED', 'LAUNCH_LOST'],
    ...['ROLLOVER_NEEDS_APPROVAL', 'RUN_BLOCKED', 'RUN_FAILED', 'RUN_NEEDS_REVIEW'],
  ],
  'refusals of signals and updates that operators send to Temporal': [
    ...['CLAIM_UNKNOWN', 'INVALID_COMMAND', 'INVALID_COMPLETION', 'OPERATOR_FORBIDDEN'],
  ],
  'blockers of runs, which are no refusals': ['BUDGET_EXHAUSTED'],
  'codes of warnings in previews': ['POLICY_WARNING'],
  'codes of events': [
    ...['OUTSIDE_CHANGED', 'REPOSITORY_DIVERTED', 'REPOSITORY_DAMAGED', 'WORKTREE_REMOVED', 'WORKTREE_NOT_RESTORED'],
  ],
  'terms of YAML': ['QUOTE_DOUBLE'],
  'terms of Temporal and of Node': [
    ...['AUTO_UPGRADE', 'CONTINUED_AS_NEW', 'REJECT_DUPLICATE', 'USE_EXISTING', 'ERR_SERVER_NOT_RUNNING'],
    ...['EAI_AGAIN', 'EAI_FAIL'],
  ],
};

/** Names of variables of the environment. */
const isVariable = /^NODE_ENV$|^(?:BOARD|MONGODB|OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOSE|SQLITE)_/;

const sources = files.filter(
  (file) =>
    /^(?:api|domain|workflows|activities|stores|contracts|platform\/http)\/.*\.ts$/.test(file) &&
    !/\.test\.ts$|^domain\/remedies\//.test(file),
);

/** Every word in capitals that a source quotes: codes, and what looks like one. */
const quoted = new Set(
  sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|CONFLICT|FORBIDDEN)'/g)].map(
      ([, code = '']) => code,
    ),
  ),
);

describe('remedies', () => {
  const others = Object.values(notConflicts).flat();

  it('are stated for every code of a conflict: a call that helps, or why there is none', () => {
    const unstated = [...quoted].filter(
      (code) => !Object.hasOwn(remedies, code) && !others.includes(code) && !isVariable.test(code),
    );
    expect(unstated).toEqual([]);
  });

  it('are of codes that there are, and none of them is listed twice', () => {
    expect(Object.keys(remedies).filter((code) => !quoted.has(code) || others.includes(code))).toEqual([]);
    expect(others.filter((code) => !quoted.has(code))).toEqual([]);
  });

  it('are one line each', () => {
    const lines = Object.values(remedies).flatMap((remedy) =>
      'none' in remedy ? [remedy.none] : remedy.map((step) => step.remedy),
    );
    expect(lines.filter((line) => line.length > 120 || !/^[A-Z].*\.$/.test(line))).toEqual([]);
  });
});
