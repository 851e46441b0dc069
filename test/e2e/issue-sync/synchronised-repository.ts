import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

/** A board with the repository `shop`, whose forge is a stand-in for GitHub. @param variable of the environment, with the credential */
export async function startWithForge(variable: string): Promise<{ stack: Stack; github: GithubServer }> {
  process.env[variable] = githubToken;
  const [github, stack] = await Promise.all([
    startGithubServer(),
    startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' }),
  ]);
  github.state.clockMs = Date.now() - 3_600_000;
  await stack.call.addRepository('shop', await aRepository(stack.dir));
  const forge = { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl, credential: `env:${variable}` };
  await stack.call.ok('PATCH', '/api/config/repos/shop', { forge });
  return { stack, github };
}
