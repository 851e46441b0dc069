import { basename, dirname, join } from 'node:path';
import type { HttpMiddleware } from '../../../platform/http/context';
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
  return servePage(files, isPageView);
}
