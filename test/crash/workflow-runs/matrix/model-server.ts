import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const program = join(__dirname, '..', '..', '..', 'support', 'models', 'model-server.mjs');

/** A server of models that can be killed, and the settings that a service finds it by. */
export async function aModelServer(directory: string) {
  let child: ChildProcess;
  let port = 0;

  async function start(): Promise<void> {
    child = spawn(process.execPath, [program, String(port), directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed] = (await once(child.stdout!, 'data')) as [Buffer];
    port = Number(printed.toString());
  }

  async function end(): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  await start();
  const catalog = join(directory, 'models.json');
  const base_url = `http://127.0.0.1:${port}/v1`;
  writeFileSync(
    catalog,
    JSON.stringify({
      providers: [{ name: 'local', kind: 'openai-compatible', base_url }],
      models: [
        {
          ...{ id: 'local', provider: 'local', family: 'test', display_name: 'Local' },
          ...{ limits: { context_window: 100_000 }, features: { tools: true } },
        },
      ],
    }),
  );
  return {
    settings: { WORKFLOW_RUNS_MODELS: catalog },
    /** How often something was asked. */
    asked: (line: string): number =>
      readFileSync(join(directory, 'asked'), { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter((each) => each === line).length,
    async killAndStart(): Promise<void> {
      await end();
      await start();
    },
    close: end,
  };
}
export type ModelServer = Awaited<ReturnType<typeof aModelServer>>;
