package awsshape

// parsed are the fields of optimized integrations that Step Functions decodes: texts that contain JSON become its
// value.
var parsed = map[string][]string{
	"lambda:invoke":                {"Payload"},
	"states:startExecution.sync:2": {"Input", "Output"},
}

// IsJob reports whether an optimized action starts a job whose end Step Functions can wait for, by the pattern .sync.
func IsJob(service, action string) bool {
	_, is := polled[service+":"+action]
	return is
}

// polled are the operations with which Step Functions checks whether the job of a .sync integration has ended; "" if it
// asks another than the service.
var polled = map[string]string{
	"athena:startQueryExecution":              "getQueryExecution",
	"batch:submitJob":                         "describeJobs",
	"bedrock:createModelCustomizationJob":     "getModelCustomizationJob",
	"codebuild:retryBuildBatch":               "batchGetBuildBatches",
	"codebuild:startBuild":                    "batchGetBuilds",
	"codebuild:startBuildBatch":               "batchGetBuildBatches",
	"databrew:startJobRun":                    "describeJobRun",
	"ecs:runTask":                             "describeTasks",
	"eks:createCluster":                       "describeCluster",
	"eks:createFargateProfile":                "describeFargateProfile",
	"eks:createNodegroup":                     "describeNodegroup",
	"eks:deleteCluster":                       "describeCluster",
	"eks:deleteFargateProfile":                "describeFargateProfile",
	"eks:deleteNodegroup":                     "describeNodegroup",
	"eks:runJob":                              "",
	"elasticmapreduce:addStep":                "describeStep",
	"elasticmapreduce:createCluster":          "describeCluster",
	"elasticmapreduce:terminateCluster":       "describeCluster",
	"emr-containers:deleteVirtualCluster":     "describeVirtualCluster",
	"emr-containers:startJobRun":              "describeJobRun",
	"emr-serverless:cancelJobRun":             "getJobRun",
	"emr-serverless:createApplication":        "getApplication",
	"emr-serverless:deleteApplication":        "getApplication",
	"emr-serverless:startApplication":         "getApplication",
	"emr-serverless:startJobRun":              "getJobRun",
	"emr-serverless:stopApplication":          "getApplication",
	"glue:startJobRun":                        "getJobRun",
	"mediaconvert:createJob":                  "getJob",
	"sagemaker:createHyperParameterTuningJob": "describeHyperParameterTuningJob",
	"sagemaker:createLabelingJob":             "describeLabelingJob",
	"sagemaker:createProcessingJob":           "describeProcessingJob",
	"sagemaker:createTrainingJob":             "describeTrainingJob",
	"sagemaker:createTransformJob":            "describeTransformJob",
	"states:startExecution":                   "describeExecution",
}
