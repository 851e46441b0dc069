import type { Setting } from './entries';

/**
 * Settings of the repository that are obeyed: what its objects and files are like, where its remotes are. None of them
 * runs a program. Keys are compared as git prints them: section and name in lower case.
 */
const ofRepository: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|bare|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol)$/,
  /^core\.(?:sharedrepository|compression|bigfilethreshold|logallrefupdates|longpaths|protecthfs|protectntfs)$/,
  /^extensions\.(?:objectformat|compatobjectformat|partialclone|refstorage|noop|noop-v1|preciousobjects)$/,
  // A remote that needs a helper program (`vcs`) is refused by name, and not taken for one that needs none.
  /^remote\..+\.(?:url|pushurl|fetch|vcs|promisor|partialclonefilter)$/s,
  /^branch\..+\.(?:remote|merge)$/s,
  /^url\..+\.(?:insteadof|pushinsteadof)$/s,
  /^http\.(?:.+\.)?(?:proxy|sslverify|sslcainfo|sslcapath|version|postbuffer|followredirects|extraheader)$/s,
  /^lfs\.(?:url|pushurl|repositoryformatversion)$/,
];

/** Settings of the operator that are obeyed besides: how remotes are reached, with the programs that the operator names. */
const ofOperator: readonly RegExp[] = [
  /^core\.(?:autocrlf|eol|compression|bigfilethreshold|symlinks|precomposeunicode|protecthfs|protectntfs)$/,
  /^core\.(?:sshcommand|gitproxy|excludesfile|attributesfile)$/,
  /^credential\.(?:.+\.)?(?:helper|username|usehttppath)$/s,
  /^credentialstore\.locktimeoutms$/,
  /^ssh\.variant$/,
  /^http\./s,
  /^url\..+\.(?:insteadof|pushinsteadof)$/s,
  /^safe\.directory$/,
  /^protocol\.version$/,
  /^pack\.(?:threads|windowmemory|packsizelimit)$/,
  /^lfs\./s,
];

const matching =
  (patterns: readonly RegExp[]) =>
  (settings: readonly Setting[]): Setting[] =>
    settings.filter(([key]) => patterns.some((pattern) => pattern.test(key)));

export const allowedOfRepository = matching(ofRepository);

export const allowedOfOperator = matching(ofOperator);

/** Without what makes git fetch objects that are missing while it only reads. */
export const withoutPromisors = (settings: readonly Setting[]): Setting[] =>
  settings.filter(([key]) => !/^extensions\.partialclone$|^remote\..+\.(?:promisor|partialclonefilter)$/s.test(key));

/** The programs of filters that are allowed by name, as the operator has configured them. */
export const filterSettings = (operator: readonly Setting[], names: readonly string[]): Setting[] =>
  operator.filter(([key]) =>
    names.some((name) => ['clean', 'smudge', 'process', 'required'].some((part) => key === `filter.${name}.${part}`)),
  );
