import { z } from 'zod';

export const permission = z.enum([
  'workspace:read',
  'task:read',
  'task:write',
  'comment:write',
  'workflow:read',
  'workflow:write',
  'workflow:execute',
  'work_product:read',
  'work_product:write',
  'report:read',
  'telemetry:read',
  'telemetry:write',
  'agent:read',
  'agent:write',
  'settings:read',
  'settings:write',
  'policy:read',
  'policy:write',
  'backup:read',
  'backup:write',
  'admin:manage',
]);
export type Permission = z.infer<typeof permission>;

export const role = z.enum(['admin', 'agent', 'read-only']);
export type Role = z.infer<typeof role>;

/**
 * What each role may do; `admin` may do everything. An agent reads telemetry too: it "reads and writes tasks, time, observations,
 * chat, telemetry" (specification 1, Authentication, rule 4).
 */
export const rolePermissions: Record<Role, readonly Permission[]> = {
  admin: permission.options,
  agent: [
    'workspace:read',
    'task:read',
    'task:write',
    'comment:write',
    'workflow:read',
    'workflow:execute',
    'work_product:read',
    'work_product:write',
    'report:read',
    'telemetry:read',
    'telemetry:write',
    'agent:read',
  ],
  'read-only': [
    'workspace:read',
    'task:read',
    'workflow:read',
    'work_product:read',
    'report:read',
    'telemetry:read',
    'agent:read',
    'settings:read',
    'policy:read',
    'backup:read',
  ],
};
