import type { ApprovalActionClass } from '../../contracts/runs/approval';
import type { AskedAction } from '../../domain/governance/action';
import type { RoutingInputs } from '../../domain/routing/decide';
import { allNamesOf, type ToolUse, type ToolVerdict } from '../../domain/tools/rules';
import { compact } from '../../platform/json/compact';
import { newRecordId } from '../../platform/operations/operation';
import type { AttemptRecord } from '../runs/attempt-store';
import type { DecisionPoint, RuleDecision } from './decision-point';

/** What the rules of the board make of the tools of one run. */
export interface ToolRulings {
  /**
   * Of a tool that an agent asks for, or is given.
   *
   * @param once names the use, so that asking again about it counts and is written down once; each is one of its own when absent
   */
  ofUse(use: ToolUse, once?: string): Promise<ToolVerdict>;
  /** Of an action that an agent describes in its own words. */
  ofClass(actionClass: ApprovalActionClass): Promise<ToolVerdict>;
}

export interface ToolRulingSources {
  rules: DecisionPoint;
  routing: { inputs(): Promise<Pick<RoutingInputs, 'roster'>> };
}

/** The kind of tool, in the terms of the Agent Client Protocol, that a class of action is. */
const kinds: Partial<Record<ApprovalActionClass, string>> = { shell: 'execute', filesystem: 'edit', network: 'fetch' };

const risks: Readonly<Record<string, number>> = { read: 20, search: 20, think: 20, execute: 70, fetch: 70 };

export function toolRulings({ rules, routing }: ToolRulingSources, record: AttemptRecord): ToolRulings {
  const roles = once(async () => rolesOf(record, await routing.inputs()));

  async function rule(use: ToolUse, once = newRecordId('use')): Promise<ToolVerdict> {
    const names = allNamesOf(use);
    const asked = {
      action: 'tool' as const,
      also: [...names, ...(use.kind === 'fetch' ? ['network'] : [])],
      tools: names,
      roles: await roles(),
      agent: record.agent,
      actor: `agent:${record.agent}`,
      taskId: record.taskId,
      riskScore: risks[use.kind ?? ''] ?? 50,
      facts: {
        attemptId: record._id,
        phase: record.phase,
        ...compact({ host: use.host, profileId: record.request.profileId, preset: record.request.sandboxPresetId }),
      },
      ...compact({ project: record.project, reaches: reachedBy(use) }),
    };
    return verdictOf(await rules.decide(asked, { approvals: 'elsewhere', counting: { once }, once }));
  }

  return {
    ofUse: rule,
    ofClass: (actionClass) => rule({ kind: kinds[actionClass] ?? null, names: [actionClass] }),
  };
}

/** What a tool reaches: one that states its destination reaches that, whatever kind it states. */
const reachedBy = ({ kind, host }: ToolUse): AskedAction['reaches'] =>
  kind === 'fetch' || host !== undefined ? { host } : undefined;

function verdictOf({ decision, reasons: [first] }: RuleDecision): ToolVerdict {
  if (decision === 'block') {
    return { verdict: 'deny', rule: 'policy', reason: first?.reason ?? 'A rule forbids it.' };
  }
  return { verdict: decision === 'require-approval' ? 'ask' : 'allow' };
}

/** The roles whose tool policies limit a run: its profile by its id, and what the roster calls its agent. */
function rolesOf(
  { agent, request: { profileId } }: AttemptRecord,
  { roster }: Pick<RoutingInputs, 'roster'>,
): string[] {
  const members = roster?.enabled ? roster.members.filter(({ enabled }) => enabled) : [];
  const mine = members.filter((member) =>
    member.profileId === undefined ? member.agent === agent : member.profileId === profileId,
  );
  const named = mine.flatMap(({ role }) => (role === undefined ? [] : [role.toLowerCase().replaceAll(' ', '-')]));
  return [...new Set([...(profileId === undefined ? [] : [profileId]), ...named])];
}

/** Asks once, and again only after a failure. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };
}
