import { compact } from '../../../../platform/json/compact';
import type { Attributes } from '../dot';
import type { AgentNode, NodeKind } from '../graph';
import { namesOf } from '../names';

const ofAgents = ['task', 'repository', 'agent', 'fallback_agents', 'profile', 'phase', 'commits'] as const;
const phases = ['explore', 'plan', 'implement', 'verify', 'publish'];
const commitPolicies = ['forbidden', 'allowed', 'required'];
const name = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const longestTask = 200;

/** The agent that a node has a board launch; what is wrong with it is passed to `problem`. */
export function agentOf(
  work: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): AgentNode | undefined {
  if (work !== 'agent') {
    ofAgents
      .filter((attribute) => attributes.has(attribute))
      .forEach((attribute) => problem(`${attribute} is of nodes with type=agent, and of maps with each=agent, only`));
    return undefined;
  }
  const task = attributes.get('task');
  if (task !== undefined && (task === '' || task.length > longestTask)) {
    problem('task must be the id of a task of the board');
  }
  if (task !== undefined && attributes.has('prompt')) {
    problem('an agent works on a task of the board or has a prompt, of which a task is made, not both');
  }
  if (task !== undefined && attributes.has('repository')) {
    problem('repository is of agents with a prompt: a task has its own');
  }
  const named = (attribute: string): string | undefined => {
    const value = attributes.get(attribute);
    if (value !== undefined && !name.test(value)) {
      problem(`${attribute} must be a name of the board`);
    }
    return value;
  };
  const oneOf = (attribute: string, values: readonly string[]): string | undefined => {
    const value = attributes.get(attribute);
    if (value !== undefined && !values.includes(value)) {
      problem(`${attribute} must be one of ${values.join(', ')}`);
    }
    return value;
  };
  const fallbacks = namesOf('fallback_agents', attributes, problem);
  if (fallbacks?.some((each) => each !== '' && !name.test(each))) {
    problem('fallback_agents must be names of the board');
  }
  return compact({
    task,
    repository: named('repository'),
    agent: named('agent'),
    fallbacks,
    profile: named('profile'),
    sandbox: named('sandbox'),
    model: attributes.get('model'),
    phase: oneOf('phase', phases),
    commits: oneOf('commits', commitPolicies),
  });
}
