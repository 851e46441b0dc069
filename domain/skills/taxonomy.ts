import type { CapabilityDefinition, SkillCapability } from '../../contracts/knowledge/skills/skill';
import { skillCapability } from '../../contracts/knowledge/skills/skill';

const definitions: Readonly<Record<SkillCapability, Omit<CapabilityDefinition, 'id'>>> = {
  'filesystem.read': {
    title: 'Read files',
    description: 'Reads files of the host or of the repository.',
    severity: 'low',
  },
  'filesystem.write': {
    title: 'Write files',
    description: 'Creates, changes, moves or deletes files.',
    severity: 'medium',
  },
  'shell.execute': {
    title: 'Run programs',
    description: 'Runs shell commands or other programs.',
    severity: 'high',
  },
  'network.egress': {
    title: 'Call the network',
    description: 'Connects to other machines.',
    severity: 'high',
  },
  'credential.access': {
    title: 'Use credentials',
    description: 'Reads keys, tokens, passwords or the files that have them.',
    severity: 'critical',
  },
  'external.message': {
    title: 'Send messages',
    description: 'Sends mail, chat messages or other messages to people outside.',
    severity: 'high',
  },
  'memory.write': {
    title: 'Write memory',
    description: 'Changes what agents remember or are instructed with in later sessions.',
    severity: 'medium',
  },
  'task.mutate': {
    title: 'Change tasks',
    description: 'Creates or changes tasks, issues or tickets.',
    severity: 'medium',
  },
  'schedule.persist': {
    title: 'Schedule work',
    description: 'Has something run later, again and again, or at a start.',
    severity: 'high',
  },
  'browser.session': {
    title: 'Drive a browser',
    description: 'Drives a browser, or reads its sessions.',
    severity: 'high',
  },
  'mcp.tool': {
    title: 'Call tool servers',
    description: 'Calls tools of servers of the Model Context Protocol.',
    severity: 'medium',
  },
};

/** The canonical capabilities, in the order of the specification. */
export const taxonomy: readonly CapabilityDefinition[] = skillCapability.options.map((id) => ({
  id,
  ...definitions[id],
}));

/** How much a capability matters that is not declared. */
export const severityOf = (capability: SkillCapability) => definitions[capability].severity;

/** What tools of agents are capable of, for skills that declare `allowed-tools`. */
const toolCapabilities: readonly [RegExp, SkillCapability][] = [
  [/^(?:Read|Grep|Glob|LS|NotebookRead)$/i, 'filesystem.read'],
  [/^(?:Write|Edit|MultiEdit|NotebookEdit)$/i, 'filesystem.write'],
  [/^(?:Bash|Shell|Execute|Terminal)$/i, 'shell.execute'],
  [/^(?:WebFetch|WebSearch|Fetch)$/i, 'network.egress'],
  [/^mcp__/i, 'mcp.tool'],
];

/** The capability of a tool, `Bash` or `Bash(git:*)`; `undefined` for one that needs none of the taxonomy. */
export function capabilityOfTool(tool: string): SkillCapability | undefined {
  const [name = ''] = tool.split('(', 1);
  return toolCapabilities.find(([known]) => known.test(name.trim()))?.[1];
}
