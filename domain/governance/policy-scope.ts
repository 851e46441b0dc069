import type { AgentLevel } from '../../contracts/governance/agent-permission';
import type { PolicyScope } from '../../contracts/governance/policy';
import { matchesName } from './matches-name';

/** The subject of a question; an absent field fits no scope that is limited by it. */
export interface Subject {
  agent?: string | undefined;
  level?: AgentLevel | undefined;
  project?: string | undefined;
  /** Every name of the action. */
  actions?: readonly string[];
}

const fits = (names: readonly string[] | undefined, name: string | undefined): boolean =>
  names === undefined || names.length === 0 || (name !== undefined && names.includes(name));

export const isAboutAgent = ({ agents, agentLevel }: PolicyScope, { agent, level }: Subject): boolean =>
  fits(agents, agent) && (agentLevel === undefined || agentLevel === level);

export const isAboutProject = ({ projects }: PolicyScope, { project }: Subject): boolean => fits(projects, project);

/** Whether a policy with this scope is about the subject. */
export function applies(scope: PolicyScope, subject: Subject): boolean {
  const { actionTypes = [] } = scope;
  const { actions = [] } = subject;
  return (
    isAboutAgent(scope, subject) &&
    isAboutProject(scope, subject) &&
    (actionTypes.length === 0 || actions.some((action) => actionTypes.some((pattern) => matchesName(pattern, action))))
  );
}
