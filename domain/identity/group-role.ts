import type { Role } from '../../contracts/permissions';

/** How groups of a provider become roles. */
export interface GroupRoles {
  /** The first entry whose group the person has decides. */
  ordered: readonly { group: string; role: Role }[];
  /** Of a person with none of these groups; without it there is none. */
  fallback?: Role | undefined;
}

/** The role that groups give; `undefined` where they give none. */
export const roleOfGroups = (groups: readonly string[], { ordered, fallback }: GroupRoles): Role | undefined =>
  ordered.find(({ group }) => groups.includes(group))?.role ?? fallback;
