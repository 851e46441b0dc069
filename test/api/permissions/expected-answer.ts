import { type Permission, type Role, rolePermissions } from '../../../contracts/permissions';
import { childrenPermission } from '../../../contracts/runs/attempt-handle';
import { toolsPermission } from '../../../contracts/runs/launch/tool-bridge';
import { authenticated } from '../../../platform/http/auth/authorize';
import type { Operation } from './operations';

/** What only handles of running attempts permit, and no key. */
export const handlePermissions: readonly (string | undefined)[] = [childrenPermission, toolsPermission];

/** The expected response: a refusal with its code, or anything that is neither a refusal nor a failure. */
export type ExpectedAnswer =
  { status: 401; code: 'AUTH_REQUIRED' } | { status: 403; code: 'WRITE_FORBIDDEN' | 'FORBIDDEN' } | 'permitted';

/** What permission some requests of an operation need besides the one that is declared, and which requests those are. */
export const furtherPermissions: Record<string, { permission: Permission; needed: string }> = {
  'GET /api/notifications': { permission: 'admin:manage', needed: 'for the notifications of all agents' },
  'POST /api/config/repos/validate': { permission: 'settings:write', needed: 'for paths that are not configured' },
  'PATCH /api/identity/profile': { permission: 'admin:manage', needed: 'for a program, and not a person' },
  'POST /api/identity/invitations/accept': { permission: 'admin:manage', needed: 'for a program, and not a person' },
  'DELETE /api/agents/register/{id}': { permission: 'agent:write', needed: 'for an agent other than the caller' },
};

/** Codes of refusals of operations that take another proof than a permission, and that proof is not in the request. */
export const otherProofs: Record<string, readonly string[]> = {
  'POST /api/auth/setup': ['INVALID_SETUP_CODE', 'PASSWORD_SESSION_LOCAL_ONLY'],
  'POST /api/auth/login': ['PASSWORD_SESSION_LOCAL_ONLY'],
  'POST /api/auth/recover': ['PASSWORD_SESSION_LOCAL_ONLY'],
  // That the caller is on this machine.
  'GET /metrics': ['AUTH_REQUIRED'],
  // That the caller is a person.
  'POST /api/workflows/runs/{runId}/steps/{stepId}/approve': ['HUMAN_REQUIRED'],
  'POST /api/workflows/runs/{runId}/steps/{stepId}/reject': ['HUMAN_REQUIRED'],
};

/** What changes nothing by itself, and so is open to callers that may only read. */
export const relays: readonly string[] = ['POST /api/auth/ws-ticket', 'POST /mcp'];

/** @param role what the caller's credential proves; undefined: nothing */
export function expectedAnswer({ name, method, permission }: Operation, role: Role | undefined): ExpectedAnswer {
  if (permission === undefined) {
    return 'permitted';
  }
  // What only the handle of a running attempt opens: no key does.
  if (role === undefined || handlePermissions.includes(permission)) {
    return { status: 401, code: 'AUTH_REQUIRED' };
  }
  if (role === 'read-only' && method !== 'GET' && !relays.includes(name)) {
    return { status: 403, code: 'WRITE_FORBIDDEN' };
  }
  if (permission === authenticated) {
    return 'permitted';
  }
  return rolePermissions[role].includes(permission as Permission) ? 'permitted' : { status: 403, code: 'FORBIDDEN' };
}
