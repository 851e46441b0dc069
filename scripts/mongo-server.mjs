import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../test/support/mongo-java', import.meta.url));
const source = join(project, 'src/main/java/runboard/WireServer.java');
const compiled = join(project, 'target/classes/runboard/WireServer.class');
const dependencies = join(project, 'target/dependency');
const startWithinMs = 30_000;

const isCurrent = () =>
  existsSync(compiled) && existsSync(dependencies) && statSync(compiled).mtimeMs >= statSync(source).mtimeMs;

/** Compiles the server once; later runs need Java only. */
function build() {
  if (isCurrent()) {
    return;
  }
  const maven = spawnSync('mvn', ['-q', '-B', 'compile'], { cwd: project, encoding: 'utf8' });
  if (maven.error || maven.status !== 0) {
    const reason = maven.error ? maven.error.message : `${maven.stdout}${maven.stderr}`.trim();
    throw new Error(
      `No MongoDB to test with. Set MONGODB_URL to a server, or install Java 17 and Maven so that one can be built ` +
        `from ${project}.\n${reason}`,
    );
  }
}

/** @returns {Promise<string>} the connection string that the server prints once it listens */
function firstLine(server) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`MongoDB did not start in ${startWithinMs} ms.`)), startWithinMs);
    const settle = (act, value) => {
      clearTimeout(timer);
      act(value);
    };
    createInterface({ input: server.stdout }).once('line', (line) => settle(resolve, line));
    server.once('error', (cause) => settle(reject, new Error(`Java cannot be started: ${cause.message}`, { cause })));
    server.once('exit', (code) => settle(reject, new Error(`MongoDB ended with exit code ${code} while starting.`)));
  });
}

/**
 * Gives a MongoDB to talk to: the one at `MONGODB_URL`, or a server in memory on a free port of 127.0.0.1.
 *
 * @returns {Promise<{ url: string, inMemory: boolean, stop: () => Promise<void> }>}
 */
export async function startMongo() {
  const given = process.env.MONGODB_URL;
  if (given) {
    return { url: given, inMemory: false, stop: async () => {} };
  }
  build();
  const classPath = [join(project, 'target/classes'), join(dependencies, '*')].join(delimiter);
  // The server ends with its standard input, so it cannot outlive us however we end.
  const server = spawn('java', ['-cp', classPath, 'runboard.WireServer'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const stop = async () => {
    server.stdin.end();
    await ended;
  };
  try {
    return { url: await firstLine(server), inMemory: true, stop };
  } catch (error) {
    server.kill('SIGKILL');
    throw error;
  }
}
