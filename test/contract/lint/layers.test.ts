import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

type Import = [file: string, specifier: string];

const label = ([file, specifier]: Import) => `${file} <- ${specifier}`;

const upwards: Import[] = [
  ['contracts/runs/attempt.ts', '../../platform/json/digest'],
  ['platform/log/log.ts', '../../stores/port/open'],
  ['platform/log/log.ts', '../../contracts/tasks/task'],
  ['domain/usage.ts', '../stores/port/collection'],
  ['domain/usage.ts', '../platform/processes/child'],
  ['stores/tasks/checkpoint-store.ts', '../../providers/git/git'],
  ['stores/tasks/checkpoint-store.ts', '../../workflows/queues'],
  ['providers/git/git.ts', '../../stores/port/open'],
  ['activities/recovery/activities.ts', '../../api/context'],
  ['activities/recovery/activities.ts', '../../worker/deps'],
  ['api/tasks/tasks/routes.ts', '../../../activities/worktree/plan'],
  ['api/tasks/tasks/routes.ts', '../../../providers/git/git'],
  ['worker/start.ts', '../api/app'],
  ['worker/activities/shared.ts', '../../services/plants/plant'],
  ['services/plants/app.ts', '../../domain/usage'],
  ['services/bitmap/http/app.ts', '../../../stores/runs/attempt-store'],
  ['workflows/agent-run/client.ts', '../../api/context'],
  ['clients/typescript/src/client.ts', '../../../contracts/common'],
  ['cli/session.ts', '../platform/log/log'],
  ['cli/commands/tasks.ts', '../../contracts/tasks/task'],
  ['api/tasks/tasks/routes.ts', '../../../cli/session'],
  ['stores/tasks/checkpoint-store.ts', '../../clients/typescript/src'],
];

/** Its types may be imported, and nothing that runs. */
const typesOnly: Import[] = [
  ['domain/registry/registration.ts', '../../platform/errors/app-error'],
  ['platform/http/list-response.ts', '../../contracts/cursor'],
  ['activities/recovery/activities.ts', '../../workflows/recovery/workflow'],
  ['api/settings/hooks/routes.ts', '../../../workflows/deliver-hooks/workflow'],
  ['workflows/recovery/workflow.ts', '../../domain/usage'],
  ['workflows/recovery/workflow.ts', '../../activities/recovery/activities'],
  ['workflows/recovery/workflow.ts', 'node:fs'],
  ['workflows/recovery/client.ts', '../../activities/recovery/activities'],
  ['services/plants/workflow.ts', '../../platform/log/log'],
];

const downwards: Import[] = [
  ['contracts/runs/attempt.ts', '../common'],
  ['domain/usage.ts', '../contracts/common'],
  ['domain/usage.ts', '../platform/json/digest'],
  ['stores/tasks/checkpoint-store.ts', '../../domain/usage'],
  ['providers/git/git.ts', '../../domain/usage'],
  ['activities/recovery/activities.ts', '../../workflows/recovery/messages'],
  ['activities/recovery/activities.ts', '../../providers/git/git'],
  ['api/tasks/tasks/routes.ts', '../../../workflows/agent-run/client'],
  ['api/tasks/tasks/routes.ts', '../../../stores/port/open'],
  ['worker/start.ts', '../activities/recovery/activities'],
  ['cli/session.ts', '../clients/typescript/src'],
  ['services/bitmap/http/app.ts', '../../../stores/port/open'],
  ['workflows/agent-run/client.ts', '../../platform/temporal/connect'],
  ['test/api/api-under-test.ts', '../../activities/recovery/activities'],
];

const pure: Import[] = [['domain/usage.ts', 'node:crypto']];
const impure: Import[] = [
  ['domain/usage.ts', 'node:fs/promises'],
  ['contracts/common.ts', 'node:child_process'],
];

const imports = [...upwards, ...typesOnly, ...downwards, ...pure, ...impure];
const valueOf = ([path, from]: Import) => ({ path, code: `import { it } from '${from}'; it();` });
const typeOf = ([path, from]: Import) => ({ path, code: `import type { It } from '${from}'; export type Its = It[];` });

/** What is refused of all imports, by the kind of the import. */
const refused = { values: new Set<string>(), types: new Set<string>() };
beforeAll(() => {
  const output = execFileSync(process.execPath, [join(__dirname, 'restrictions.mjs')], {
    cwd: join(__dirname, '..', '..', '..'),
    input: JSON.stringify([...imports.map(valueOf), ...imports.map(typeOf)]),
    encoding: 'utf8',
  });
  const reports = JSON.parse(output) as string[][];
  for (const [index, each] of imports.entries()) {
    if (reports[index]?.length) {
      refused.values.add(label(each));
    }
    if (reports[imports.length + index]?.length) {
      refused.types.add(label(each));
    }
  }
});

describe('lint of imports between layers', () => {
  it.each(upwards)('refuses that %s imports %s', (...each) => {
    expect(refused.values).toContain(label(each));
  });

  it.each(typesOnly)('lets %s import types only of %s', (...each) => {
    expect(refused.values).toContain(label(each));
    expect(refused.types).not.toContain(label(each));
  });

  it.each([...downwards, ...pure])('lets %s import %s', (...each) => {
    expect(refused.values).not.toContain(label(each));
  });

  it.each(impure)('refuses that %s, which is pure, imports %s', (...each) => {
    expect(refused.values).toContain(label(each));
  });
});
