/** What a node of a workflow does; by its shape in the DOT text, or its `type`. */
export const nodeKinds = [
  ...([
    'start',
    'exit',
    'fail',
    'prompt',
    'human',
    'decision',
    'parallel',
    'join',
    'wait',
    'webhook',
    'command',
    'map',
    'child',
    'agent',
    'tool',
  ] as const),
] as const;
/** `launch` and `write` are of graphs that the board compiles from its definitions: no DOT text has them. */
export type NodeKind = (typeof nodeKinds)[number] | 'launch' | 'write';

export const questionTypes = ['yes_no', 'multiple_choice', 'multi_select', 'freeform', 'confirmation'] as const;
export type QuestionType = (typeof questionTypes)[number];

/** A choice of a question. */
export interface Option {
  key: string;
  label: string;
}

/** A program that a run starts. */
export interface CommandNode {
  /** The program, and its arguments, in which `${name}` stands for a value of the run. */
  argv: string[];
  /** Where it is started, relative to the workspace of the run. */
  directory?: string;
  /** Its sandbox preset; the first of the service when absent. */
  sandbox?: string;
}

/** Kinds of work that a map does for each item of its list. */
export const mappedKinds = ['prompt', 'command', 'child', 'agent', 'tool'] as const;

/** What is done for each item of a list. */
export interface MapNode {
  /** The value with the list, and the fields and positions that lead to it. */
  items: string[];
  each: (typeof mappedKinds)[number];
  /** How many items are under way at a time. */
  concurrency: number;
  /** How many items the list may have. */
  maxItems: number;
  /** How many items may fail before no further one is begun, and the stage fails. */
  maxFailures: number;
}

/** A run of another workflow. */
export interface ChildNode {
  /** The slug of the workflow; its latest graph is run. */
  workflow: string;
  /** Values that it begins with: their names there, and the paths of values here. */
  vars: [name: string, path: string[]][];
  /** The path of the value of the child that is the output of the stage. */
  output: string[];
}

/** A run of an agent on the board. */
export interface AgentNode {
  /** The id of the task it works on, in which `${name}` stands for a value; one is made of the prompt when absent. */
  task?: string;
  /** Of a task that is made. */
  repository?: string;
  /** Whom the board launches, and whom after its attempts have failed; the board decides when absent. */
  agent?: string;
  fallbacks?: string[];
  profile?: string;
  sandbox?: string;
  model?: string;
  phase?: string;
  commits?: string;
}

/** A call of a tool of a tool server of the board. */
export interface ToolNode {
  /** The id of the server's definition. */
  server: string;
  tool: string;
  /** What it is called with: in its texts `${name}` stands for a value, and is it where the text is nothing else. */
  arguments: Record<string, unknown>;
  /** Whether it may be called again although it was called before. */
  idempotent?: true;
}

/** When the branches of a parallel node have come to their join; all of them when absent. */
export interface ParallelNode {
  /** `any`: once one has succeeded. */
  completion?: 'any';
  /** Once one has failed. */
  failFast?: true;
}

/** A tool of a server, or all of them. */
export interface ToolOffer {
  server: string;
  tool?: string;
}

/** What the model of a prompt may call. */
export interface PromptTools {
  offers: ToolOffer[];
  /** How often the model is asked; the last time it may call nothing. */
  maxTurns: number;
}

/** A run of the board that a stage starts and waits for. */
export interface LaunchNode {
  /** The step of the definition; its output becomes the value `<step>_output`. */
  stepId: string;
  title: string;
  /** What the agent works on; `${name}` stands for a value of the run. Absent: the task of the run, as it is. */
  input?: string;
  agent?: string;
  model?: string;
  phase?: string;
  /** The file that has to be written. */
  outputFile?: string;
  /** The JSON schema that the summary has to fit; the output is the JSON then. */
  outputSchema?: Record<string, unknown>;
  /** Whose session it is; absent where no step continues one. */
  session?: { agent: string; isContinued?: true };
}

/** What a run of the board writes when it ends, and where. */
export interface WriteNode {
  to: { type: 'comment' } | { type: 'document'; path: string };
  /** `${name}` stands for a value of the run. */
  content: string;
}

export interface GraphNode {
  /** The node's name in the DOT text. */
  id: string;
  label: string;
  kind: NodeKind;
  /** Of `prompt` and `agent`: what the model or agent is to do; `$goal` and `${name}` stand for values of the run. */
  prompt?: string;
  system?: string;
  model?: string;
  /** Models that are asked, one after the other, when the attempts of the one before have failed. */
  fallbackModels?: string[];
  maxTokens?: number;
  /** How often a run may visit it; the graph's limit when absent. */
  maxVisits?: number;
  /** How often it is retried after it failed for a reason that may pass. */
  maxRetries: number;
  /** The longest one try, an answer or a wait may take, in milliseconds. */
  timeoutMs?: number;
  /** Of `prompt` and `command`: the JSON schema that the output has to fit. */
  outputSchema?: Record<string, unknown>;
  /** Of `command`. */
  command?: CommandNode;
  /** Of `map`. */
  map?: MapNode;
  /** Of `child`. */
  child?: ChildNode;
  /** Of `agent`. */
  agent?: AgentNode;
  /** Of `parallel`; absent where the join waits for all branches. */
  parallel?: ParallelNode;
  /** Of `prompt`: the tools that its model may call. */
  promptTools?: PromptTools;
  /** Of `tool`. */
  tool?: ToolNode;
  /** Of `launch`. */
  launch?: LaunchNode;
  /** Of `write`. */
  write?: WriteNode;
  /** The pause before the first retry of a prompt or command, in milliseconds; it doubles with each. */
  retryDelayMs?: number;
  /** Of `human`. */
  question?: { text: string; type: QuestionType; options: Option[]; allowFreeform: boolean };
}

/** What a node does, or a map for each of its items. */
export const workOf = ({ kind, map }: Pick<GraphNode, 'kind' | 'map'>): NodeKind => map?.each ?? kind;

export interface GraphEdge {
  from: string;
  to: string;
  label?: string;
  /** The key of the option that leads along it. */
  option?: string;
  /** What must hold for it to be taken. */
  condition?: Condition;
  /** How often a run may take it. */
  maxTraversals?: number;
  /** Of several that could be taken, the heaviest is. */
  weight: number;
}

/** Two values are compared as texts by `=`, `!=` and `contains`, as numbers by the others; `is` asks whether there is one. */
export const comparisonOperators = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'is'] as const;

/** One comparison of a value of the run with a constant. */
export interface Comparison {
  name: string;
  /** The fields and positions that lead to the compared part of a JSON value. */
  path?: string[];
  operator: (typeof comparisonOperators)[number];
  value: string;
}
export type Expression = Comparison | { all: Expression[] } | { any: Expression[] } | { not: Expression };

/** All of it must hold. */
export type Condition = Expression[];

/** What a run may use altogether. */
export interface Budget {
  /** Of its prompts and answers. */
  tokens?: number;
  /** In USD, by the prices of the catalog. */
  cost?: number;
  /** From its start to its end, waits included, in milliseconds. */
  timeMs?: number;
}

/** A workflow: checked, and small enough to be the input of its execution. */
export interface Graph {
  name: string;
  goal?: string;
  /** How often a run may visit each node that has no limit of its own. */
  loopLimit?: number;
  budget?: Budget;
  start: string;
  nodes: Record<string, GraphNode>;
  edges: GraphEdge[];
}

/** How long the model of a prompt may take whose node does not say it, in milliseconds. */
export const usualPromptMs = 600_000;
/** How long a program may run whose node does not say it, in milliseconds. */
export const usualCommandMs = 600_000;

/** The longest output that is JSON by a schema, in characters: it becomes a value of its run. */
export const maxJsonOutput = 65_536;

/** How much a graph may have; `bytes` are those of its compiled form as JSON, which is the input of a Temporal execution. */
export const graphLimits = { sourceCharacters: 100_000, nodes: 200, edges: 1_000, bytes: 1_000_000 };

/** How many items a map takes unless it sets it, at most, and how many at a time. */
export const mapLimits = { usualItems: 100, items: 1_000, usualConcurrency: 4, concurrency: 20 };

/** How deep runs may have child runs, and how many runs a tree may have besides the first. */
export const treeLimits = { depth: 5, runs: 500 };

/** How many nodes a run may visit, and each of them when neither it nor its graph has a limit. */
export const runLimits = { stages: 10_000, usualVisits: 500 };
