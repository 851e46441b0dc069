import type { RouteWork } from '../../contracts/settings/routing';
import type { RosterMember, TeamRoster } from '../../contracts/settings/team-roster';
import { matchesGlob } from './glob';
import { type Evaluation, firstMatch, notAmong } from './rules';

/** The rule that a route by the roster is reported under. */
export const rosterRule = (member: Pick<RosterMember, 'id'>): string => `team-roster:${member.id}`;

/** Why the member does not take this work; undefined when it does. */
function memberMismatch({ match }: Pick<RosterMember, 'match'>, work: RouteWork): string | undefined {
  return (
    notAmong('type', match.types, work.type) ??
    notAmong('priority', match.priorities, work.priority) ??
    notAmong('project', match.projects, work.project) ??
    pathMismatch(match, work) ??
    capabilityMismatch(match, work) ??
    countMismatch(match, work)
  );
}

function pathMismatch({ paths }: RosterMember['match'], { path }: RouteWork): string | undefined {
  if (paths === undefined) {
    return undefined;
  }
  if (path === undefined) {
    return 'no path is given';
  }
  return paths.some((glob) => matchesGlob(glob, path)) ? undefined : `the path does not match ${paths.join(' or ')}`;
}

function capabilityMismatch({ capabilities }: RosterMember['match'], work: RouteWork): string | undefined {
  const lacking = capabilities && work.capabilities?.filter((needed) => !capabilities.includes(needed));
  return lacking && lacking.length > 0 ? `the member cannot do ${lacking.join(', ')}` : undefined;
}

function countMismatch({ minSubtasks = 0, maxSubtasks = Infinity }: RosterMember['match'], work: RouteWork) {
  const count = work.subtaskCount ?? 0;
  if (count < minSubtasks) {
    return `${count} subtasks, not ${minSubtasks} or more`;
  }
  return count > maxSubtasks ? `${count} subtasks, not ${maxSubtasks} or fewer` : undefined;
}

export const evaluateRoster = ({ members }: TeamRoster, work: RouteWork): Evaluation<RosterMember> =>
  firstMatch(members, { type: 'team-roster', idOf: rosterRule, mismatch: (member) => memberMismatch(member, work) });

/** The member that matched, then its fallbacks, each once and only those that are enabled. */
export function rosterChain({ members, fallback }: TeamRoster, matched: RosterMember): RosterMember[] {
  const ids = [matched.id, matched.fallback, fallback];
  const chain = ids.flatMap((id) => members.filter((member) => member.id === id && member.enabled));
  return [...new Set(chain)];
}

/** Who reviews the member's work. */
export function reviewersOf({ members, reviewers }: TeamRoster, member: RosterMember): RosterMember[] {
  const ids = member.reviewers.length > 0 ? member.reviewers : reviewers;
  return members.filter(({ id, enabled }) => enabled && id !== member.id && ids.includes(id));
}
