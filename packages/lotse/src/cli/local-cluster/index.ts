/** The embedded cluster of a command, and the packages that only development needs. */
export {
  KUBELETS,
  type KubeletChoice,
  type LocalClusterOptions,
  shellWord,
  startLocalCluster,
} from "./local-cluster.ts";
export {
  type ConsoleServer,
  type EmbeddedCluster,
  type FieldProblem,
  type ImportAlone,
  importAlone,
  importCluster,
  importConsole,
  type ObjectJudge,
} from "./optional-packages.ts";
