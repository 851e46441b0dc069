import type { z } from 'zod';
import type { RouteWork } from '../../../contracts/settings/routing';
import type { DocumentIssue, RosterMember, rosterPreview, TeamRoster } from '../../../contracts/settings/team-roster';
import { decideRoute, memberOption, type RoutingInputs } from '../../../domain/routing/decide';
import { evaluateRoster, reviewersOf, rosterChain, rosterRule } from '../../../domain/routing/roster';

type World = Pick<RoutingInputs, 'agents' | 'profiles'>;

/** Warnings about a valid roster: members that could take no work as the board is configured now. */
export function rosterIssues({ members, enabled }: TeamRoster, { agents, profiles }: World): DocumentIssue[] {
  const warning = (path: string, code: string, message: string): DocumentIssue => ({
    severity: 'warning',
    path,
    code,
    message,
  });
  const issues = members.flatMap(({ agent: type, profileId }, at): DocumentIssue[] => {
    const agent = agents.find((each) => each.type === type);
    const profile = profiles.find(({ id }) => id === profileId);
    return [
      ...(type !== undefined && !agent
        ? [warning(`members.${at}.agent`, 'unknown_agent', `No agent has the type ${type}.`)]
        : []),
      ...(agent && !agent.enabled
        ? [warning(`members.${at}.agent`, 'disabled_agent', `Agent ${agent.type} is disabled.`)]
        : []),
      ...(profile && type !== undefined && profile.agent !== type
        ? [
            warning(
              `members.${at}.agent`,
              'other_agent',
              `The agent ${profile.agent} of the profile ${profile.id} is already on the roster.`,
            ),
          ]
        : []),
      ...(profileId !== undefined && !profile?.enabled
        ? [warning(`members.${at}.profileId`, 'unknown_profile', `No enabled profile has the id ${profileId}.`)]
        : []),
    ];
  });
  const idle = enabled && !members.some((member) => member.enabled);
  return [
    ...issues,
    ...(idle
      ? [warning('members', 'nobody', 'No member of the roster is enabled, so that it cannot assign work.')]
      : []),
  ];
}

/** The roster's routing of some work, without any other rule. */
export function previewRoster(inputs: RoutingInputs, work: RouteWork): z.infer<typeof rosterPreview> {
  const { roster } = inputs;
  const nothing = { matched: null, fallback: null, reviewers: [], selected: null, rule: null, issues: [] };
  if (!roster?.enabled) {
    return { ...nothing, reason: roster ? 'The team roster is off.' : 'There is no team roster.' };
  }
  const issues = rosterIssues(roster, inputs);
  const { matched } = evaluateRoster(roster, work);
  if (!matched) {
    return { ...nothing, reason: 'No member of the team roster matches this work.', issues };
  }

  const [, second] = rosterChain(roster, matched);
  const decision = decideRoute(inputs, { work, required: [], toLaunch: false });
  const { selected } = decision;
  return {
    matched: presentMember(inputs, matched),
    fallback: second ? presentMember(inputs, second) : null,
    reviewers: reviewersOf(roster, matched).map((member) => presentMember(inputs, member)),
    selected: selected ? { agent: selected.agent.type, profileId: selected.profileId, model: selected.model } : null,
    rule: rosterRule(matched),
    reason: decision.reason,
    issues,
  };
}

const presentMember = (inputs: World, member: RosterMember) => ({
  id: member.id,
  name: member.name,
  agent: memberOption(inputs, member).agent,
  profileId: member.profileId ?? null,
});
