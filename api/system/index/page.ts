import { basename, dirname, join } from 'node:path';
import type { HttpMiddleware } from '../../../platform/http/context';
import { isLoopbackHost } from '../../../platform/http/loopback-host';
import { readPageFiles } from '../../../platform/http/page/page-files';
import { servePage } from '../../../platform/http/page/serve-page';
import type { ApiContext } from '../../context';

/** Where the build puts the page, whether this runs compiled or from its source. */
function builtPage(): string {
  const root = dirname(dirname(dirname(__dirname)));
  return join(basename(root) === 'dist' ? root : join(root, 'dist'), 'page');
}

const id = '[A-Za-z0-9_-]{1,80}';

/** The paths of the views of the page (web/src/app/router.tsx). */
const views = [
  '/',
  `/tasks/${id}(?:/(?:diff|runs/${id}))?`,
  '/(?:approvals|archive|audit|backlog|chat|fleet|login|metrics|queue|recover|settings|setup|workflows)',
  `/workflows/runs/${id}`,
].map((pattern) => new RegExp(`^${pattern}$`));

export const isPageView = (path: string): boolean => views.some((view) => view.test(path));

type PageContext = Pick<ApiContext, 'env' | 'log'>;

/** Whether browsers of other machines are expected, and no origin of theirs may call. */
const lacksOrigin = ({ NODE_ENV, BOARD_HOST, BOARD_PUBLIC_URL, BOARD_ALLOWED_ORIGINS }: ApiContext['env']): boolean =>
  NODE_ENV === 'production' &&
  !isLoopbackHost(BOARD_HOST) &&
  BOARD_PUBLIC_URL === undefined &&
  BOARD_ALLOWED_ORIGINS.length === 0;

/**
 * Serves the page where it was built and is not turned off (`BOARD_PAGE`); passes everything on otherwise.
 *
 * @param directory of the built page, the one of the build by default
 */
export async function openPage({ env, log }: PageContext, directory = builtPage()): Promise<HttpMiddleware> {
  const files = env.BOARD_PAGE ? await readPageFiles(directory) : undefined;
  if (!files) {
    log.info({ enabled: env.BOARD_PAGE }, 'page not served');
    return (_ctx, next) => next();
  }
  if (lacksOrigin(env)) {
    log.warn('the page can change nothing where browsers reach it by a name: set BOARD_PUBLIC_URL to that address');
  }
  return servePage(files, isPageView);
}
