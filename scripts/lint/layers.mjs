/**
 * Lint rules of the layers: what each top folder may import, and what the files of a role may. Tests may import anything.
 */
const layers = [
  'contracts',
  'platform',
  'domain',
  'stores',
  'providers',
  'workflows',
  'activities',
  'api',
  'worker',
  'services',
  'scripts',
  'clients',
  'mcp',
  'cli',
];

/** What of `platform/` is pure. */
const purePlatform = 'platform/(?:json|text|yaml|errors)/[^/]+|platform/log/redact[a-z-]*';
/** The graphs of the workflow-run engine, which definitions of the board compile to: types and pure rules. */
const engineGraph = 'services/workflow-runs/graph/(?:graph|condition|structure|values)';
/** The records of its runs, its activities and its clients: the board has runs of its own, with its stores and its workers. */
const engineRecords = 'services/workflow-runs/runs/(?:run|store|execution/(?:continuations|messages))';
const engineRuns = 'services/workflow-runs/runs';
/** Calls and messages of workflows, but not the code that runs in their sandbox. */
const workflowMessages =
  'workflows/(?:clients/[^/]+|queues|recorded-types|message-proofs|operator|host-service|[^/]+/(?:(?:[a-z]+-)*client|messages|launch-options))';

/** An import of ours that is none of `allowed`; `depth` is how many steps up it goes at least. */
const anythingBut = (allowed, depth = 1) =>
  `^(\\.\\./){${depth},}(?!(?:${allowed.join('|')})(?:/|$))(?:${layers.join('|')})(?:/|$)`;

const restricted = (...patterns) => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns }] });

const layer = (folder, patterns, files = [`${folder}/**/*.ts`]) => ({
  files,
  ignores: ['**/*.test.ts'],
  rules: restricted(...patterns),
});

const noInputOrOutput = {
  regex: '^node:(?!crypto$|path$)',
  message: 'What is pure reads no files, processes or networks.',
};

const sharesOfTypes = (folders, message) => ({
  regex: `^(\\.\\./)+(${folders})(/|$)`,
  message,
  allowTypeImports: true,
});

/** Of the Temporal client: its workflows and its schedules. */
const temporalCall = ['object.name', 'object.property.name']
  .map((client) => `MemberExpression[${client}='client'][property.name=/^(workflow|schedule)$/]`)
  .join(', ');

/** What starts and asks workflows from other processes; not part of their bundle. */
const workflowClients = ['workflows/*/{*-,}client.ts', 'workflows/*/launch-options.ts', 'workflows/clients/**'];

export const layerRules = [
  layer('contracts', [{ regex: anythingBut(['contracts']), message: 'Contracts know shapes only.' }, noInputOrOutput]),
  layer('platform', [
    {
      regex: anythingBut(['platform', 'contracts/(?:upload|cursor)']),
      message: 'Platform is below everything and knows no resource.',
    },
    sharesOfTypes('contracts', 'Platform takes the shape of a cursor or an upload, and checks neither.'),
  ]),
  layer('domain', [
    { regex: anythingBut(['domain', 'contracts', purePlatform, engineGraph]), message: 'The domain of a run is pure.' },
    {
      regex: '^(\\.\\./)+platform/errors/app-error$',
      message: 'The domain knows no HTTP: it refuses with a Refusal, which the API turns into an error.',
      allowTypeImports: true,
    },
    noInputOrOutput,
  ]),
  layer('stores', [
    {
      regex: anythingBut(['stores', 'contracts', 'platform', 'domain', engineGraph, engineRecords]),
      message: 'Stores persist; they call nothing above them.',
    },
  ]),
  layer('providers', [
    {
      regex: anythingBut(['providers', 'contracts', 'platform', 'domain']),
      message: 'Providers reach the outside world and nothing else.',
    },
  ]),
  layer('activities', [
    {
      regex: anythingBut([
        ...[
          'activities',
          'contracts',
          'platform',
          'domain',
          'stores',
          'providers',
          'workflows',
          engineGraph,
          engineRuns,
        ],
      ]),
      message: 'Activities are called by workflows, not by HTTP.',
    },
    {
      regex: anythingBut([...layers.filter((name) => name !== 'workflows'), workflowMessages]),
      message: 'Activities share messages and clients with workflows, and no code that runs in their sandbox.',
      allowTypeImports: true,
    },
  ]),
  layer('api', [
    {
      regex: anythingBut([
        ...[
          'api',
          'contracts',
          'platform',
          'domain',
          'stores',
          'workflows',
          'mcp',
          'clients',
          engineGraph,
          engineRecords,
        ],
        'services/workflow-runs/runs/http/draw',
      ]),
      message: 'HTTP calls stores or starts workflows; side effects are activities.',
    },
    {
      regex: anythingBut([...layers.filter((name) => name !== 'workflows'), workflowMessages]),
      message: 'HTTP calls clients of workflows, and no code that runs in their sandbox.',
      allowTypeImports: true,
    },
  ]),
  layer('worker', [
    {
      regex: anythingBut([
        ...layers.filter((name) => !['api', 'services', 'scripts', 'clients', 'mcp', 'cli'].includes(name)),
        engineRecords,
      ]),
      message: 'The worker serves workflows and activities, and knows nothing of HTTP.',
    },
  ]),
  layer('services', [
    {
      // A service has folders of its own, with names of layers among them.
      regex: anythingBut(
        ['services', 'platform', 'stores/port', 'stores/system/(?:message-key|idempotency-key)-store'],
        2,
      ),
      message: 'A small service shares platform and the port of the stores with the board, and nothing else.',
    },
  ]),
  {
    // It makes what entry points hand in: the service itself knows an interface.
    ...layer('services', [
      {
        regex: anythingBut(['services', 'platform', 'providers/sandbox', 'contracts', 'domain/sandbox'], 2),
        message: 'A small service confines programs as agent runs are, and takes nothing else of the board.',
      },
    ]),
    files: ['services/*/sandbox.ts'],
  },
  layer('clients', [
    {
      regex: anythingBut(['clients']),
      message: 'The client is what callers of the API have, and nothing else of ours.',
    },
  ]),
  layer('mcp', [
    {
      regex: anythingBut(['mcp', 'clients', 'contracts']),
      message: 'Tools for models drive the API by its client; their arguments have its shapes.',
    },
  ]),
  layer('cli', [
    {
      regex: anythingBut(['cli', 'clients', 'mcp']),
      message: 'The command drives the API as any caller does: by its client, and nothing else of ours.',
    },
  ]),
  {
    ...layer('workflows', [
      sharesOfTypes(
        'api|worker|services(?!/workflow-runs/runs/(changes|execution/workflow)$)|scripts|stores|providers|platform(?!/(temporal/activity-proof|temporal/search-attributes|temporal/task-timeout|crypto/message-proof-shape)$)|domain|activities|contracts',
        'Workflow code takes types only: values would enter the deterministic bundle.',
      ),
      {
        regex: '^(node:|(?!@temporalio/(workflow|common)|\\.)).*',
        message: 'Workflow code imports nothing but @temporalio/workflow and @temporalio/common.',
        allowTypeImports: true,
      },
    ]),
    files: ['workflows/**/*.ts', 'services/*/**/workflow.ts'],
    ignores: workflowClients,
  },
  {
    ...layer('workflows', [
      sharesOfTypes(
        'api|worker|services(?!/workflow-runs/runs)|scripts|providers|activities',
        'Clients of workflows are called by HTTP and by activities, and call neither.',
      ),
    ]),
    files: workflowClients,
  },
  {
    files: ['api/**/*.ts', 'worker/**/*.ts', 'activities/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: temporalCall, message: 'Temporal is called in workflows/<flow>/client.ts, beside the workflow.' },
      ],
    },
  },
];
