import type { Profile } from '../../contracts/settings/profile';

type Restrictions = Profile['restrictions'];

const without = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((each) => !others.includes(each));

/** Lists that restrict nothing when they are absent, and otherwise allow only what they name. */
const opens = (parent: readonly string[] | undefined, child: readonly string[] | undefined): boolean =>
  parent !== undefined && (child === undefined || without(child, parent));

/** Whether a profile restricts anything that a child could gain. */
export const isRestricted = (profile: Profile | null): profile is Profile =>
  profile !== null && widenedByRestrictions(profile.restrictions, {}).length > 0;

/** What a profile allows beyond its parent's, by the path of the field; empty when it allows no more. */
export const widenedByProfile = (parent: Profile, child: Profile): string[] =>
  widenedByRestrictions(parent.restrictions, child.restrictions).map((field) => `profile.restrictions.${field}`);

function widenedByRestrictions(parent: Restrictions, child: Restrictions): string[] {
  const wider: [string, boolean][] = [
    ['tools.allowed', opens(parent.tools?.allowed, child.tools?.allowed)],
    ['tools.denied', without(parent.tools?.denied ?? [], child.tools?.denied ?? [])],
    ['mcpServers', opens(parent.mcpServers, child.mcpServers)],
    ['permissions', opens(parent.permissions, child.permissions)],
  ];
  return wider.filter(([, isWider]) => isWider).map(([field]) => field);
}
