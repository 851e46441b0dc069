import { type Permission, permission, type Role, rolePermissions } from '../../contracts/permissions';

/** From the one that may do least. */
const order: readonly Role[] = ['read-only', 'agent', 'admin'];

/** Whether a role ranks no higher than another. */
export const isWithin = (role: Role, limit: Role): boolean => order.indexOf(role) <= order.indexOf(limit);

const lesser = (a: Role, b: Role): Role => (isWithin(a, b) ? a : b);

/** The permissions of a role that a credential was approved for; all of them without scopes. */
export const approvedPermissions = (role: Role, scopes?: readonly Permission[]): Permission[] =>
  rolePermissions[role].filter((one) => scopes === undefined || scopes.includes(one));

/** What all of these have, in the order of the permissions. */
export const inAll = (...lists: readonly (readonly Permission[])[]): Permission[] =>
  permission.options.filter((one) => lists.every((list) => list.includes(one)));

/** What a credential was approved for, and its member's role now. */
export interface Grant {
  role: Role;
  scopes?: readonly Permission[] | undefined;
  memberRole: Role;
}

export interface Authority {
  role: Role;
  permissions: Permission[];
  /** Why it is less than was approved. */
  degradedReason?: string;
}

/** What a credential may do now: what was approved, as far as its member may do it. */
export function authorityOf({ role, scopes, memberRole }: Grant): Authority {
  const approved = approvedPermissions(role, scopes);
  const permissions = inAll(approved, rolePermissions[memberRole]);
  if (permissions.length === approved.length && lesser(role, memberRole) === role) {
    return { role, permissions };
  }
  const degradedReason = `Approved as ${role}; the role of its member in the workspace is ${memberRole} now.`;
  return { role: lesser(role, memberRole), permissions, degradedReason };
}
