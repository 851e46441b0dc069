/** What a graph, a node or an edge may set: what has a meaning here, and what Graphviz knows for drawings. Names are exact. */

/** Attributes of the DOT language that only change how a graph is drawn; they have no meaning for a run. */
const drawn = new Set(
  `_background area arrowhead arrowsize arrowtail bb bgcolor center charset class cluster clusterrank color colorscheme comment
  compound concentrate constraint Damping decorate defaultdist dim dimen dir diredgeconstraints distortion dpi edgehref
  edgetarget edgetooltip edgeURL epsilon esep fillcolor fixedsize fontcolor fontname fontnames fontpath fontsize forcelabels
  gradientangle group head_lp headclip headhref headlabel headport headtarget headtooltip headURL height href id image
  imagepath imagepos imagescale inputscale K label_scheme labelangle labeldistance labelfloat labelfontcolor labelfontname
  labelfontsize labelhref labeljust labelloc labeltarget labeltooltip labelURL landscape layer layerlistsep layers layerselect
  layersep layout len levels levelsgap lhead lheight linelength lp ltail lwidth margin maxiter mclimit mindist minlen mode
  mosek newrank nodesep nojustify normalize notranslate nslimit nslimit1 oneblock ordering orientation outputorder overlap
  overlap_scaling overlap_shrink pack packmode pad page pagedir pencolor penwidth peripheries pin pos quadtree quantum radius
  rank rankdir ranksep ratio rects regular remincross repulsiveforce resolution root rotate rotation samehead sametail
  samplepoints scale searchsize sep shapefile showboxes sides size skew smoothing sortv splines start style stylesheet tail_lp
  tailclip tailhref taillabel tailport tailtarget tailtooltip tailURL target TBbalance tooltip truecolor URL vertices viewport
  voro_margin width xdotversion xlabel xlp z`.split(/\s+/),
);

/** Attributes with a meaning, by what has them. */
const meant = {
  graph: new Set(['goal', 'label', 'loop_limit', 'budget_tokens', 'budget_cost', 'budget_time']),
  node: new Set([
    ...['label', 'shape', 'type', 'prompt', 'system', 'model', 'max_tokens', 'max_retries', 'max_visits', 'timeout'],
    ...['command', 'directory', 'sandbox', 'retry_delay', 'fallback_models', 'output_schema'],
    ...['items', 'each', 'concurrency', 'max_items', 'max_failures', 'workflow', 'vars', 'output'],
    ...['task', 'repository', 'agent', 'fallback_agents', 'profile', 'phase', 'commits'],
    ...['server', 'tool', 'arguments', 'idempotent', 'tools', 'max_turns', 'completion', 'fail_fast'],
    ...['duration', 'question', 'question_type', 'options', 'allow_freeform'],
  ]),
  edge: new Set(['label', 'condition', 'weight', 'max_traversals']),
};

/** Of those of a graph, what a subgraph cannot have: it would mean nothing there. */
export const ofWholeGraph: ReadonlySet<string> = new Set([
  'goal',
  'loop_limit',
  'budget_tokens',
  'budget_cost',
  'budget_time',
]);

export type AttributeOwner = keyof typeof meant;

/** Whether a graph, node or edge may have the attribute. */
export const isKnown = (owner: AttributeOwner, name: string): boolean => meant[owner].has(name) || drawn.has(name);
